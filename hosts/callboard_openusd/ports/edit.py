"""The ``scene.mutate`` port: changing the stage. All edits go to the root layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from pxr import Sdf, Tf, Usd

from callboard.errors import HostError
from callboard.host import ObjectNotFound, PrimitiveKind, Vector
from callboard_openusd.application.document import UsdPort, telling
from callboard_openusd.application.layout import home, objects_in
from callboard_openusd.parts import copies, object_color, shapes, transforms
from callboard_openusd.parts.instances import owned, owned_parent


class UsdSceneEditor(UsdPort):
    def _find(self, name: str) -> Usd.Prim:
        return self._document.names.find(name)

    def _own(self, name: str) -> Usd.Prim:
        return owned(self._find(name))

    @telling("create that")
    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        stem = kind.capitalize() if name is None else identifier(name)
        path = self._document.opened.free_path(home(self._stage), stem)
        shapes.define(self._stage, path, kind, dimensions)
        return str(path)

    @telling("set that transform")
    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        prim = self._own(name)
        transforms.write(prim, translate, rotate, scale)
        return str(prim.GetPath())

    @telling("move that")
    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        prim = self._own(name)
        above = (
            owned_parent(self._find(parent)).GetPath() if parent is not None else home(self._stage)
        )
        if above.HasPrefix(prim.GetPath()):
            raise HostError(
                f"'{above.name}' can't be the parent: it is '{prim.GetName()}' itself, or below it"
            )
        if above == prim.GetPath().GetParentPath():
            return str(prim.GetPath())
        world = transforms.world_matrix(prim)
        path = self._document.opened.free_path(above, prim.GetName())
        moved = self._move(prim, path)
        # A prim that resets the stack of transforms is already in world space, wherever it is in
        # the hierarchy.
        if keep_world and not transforms.resets_stack(moved):
            frame = transforms.world_matrix(self._stage.GetPrimAtPath(above))
            if frame.GetDeterminant() == 0:
                raise HostError(
                    f"'{above.name}' is scaled to zero, so the object can't keep its place in the"
                    " world"
                )
            transforms.write_matrix(moved, world * frame.GetInverse())
        return str(path)

    @telling("rename that")
    def rename(self, name: str, new_name: str) -> str:
        prim = self._own(name)
        path = prim.GetPath().ReplaceName(identifier(new_name))
        if path == prim.GetPath():
            return str(path)
        if self._stage.GetPrimAtPath(path):
            raise HostError(
                f"'{new_name}' is taken by a sibling of '{prim.GetName()}'; use another name"
            )
        self._move(prim, path)
        return str(path)

    @telling("delete that")
    def delete(self, names: Sequence[str]) -> list[str]:
        doomed = [self._own(name).GetPath() for name in names]
        removed = []
        for path in Sdf.Path.RemoveDescendentPaths(sorted(set(doomed))):
            prim = self._stage.GetPrimAtPath(path)
            removed += [str(each.GetPath()) for each in objects_in(prim)]
            self._remove(prim)
        return removed

    @telling("copy that")
    def duplicate(self, name: str, new_name: str | None) -> str:
        prim = self._own(name)
        stem = prim.GetName() if new_name is None else identifier(new_name)
        path = self._document.opened.free_path(prim.GetPath().GetParentPath(), stem)
        copies.copy(prim, self._document.opened, path)
        self._arrived(path, prim.GetName(), "copied")
        return str(path)

    def select(self, names: Sequence[str]) -> list[str]:
        paths = list(dict.fromkeys(str(self._find(name).GetPath()) for name in names))
        self._document.opened.selection = paths
        return paths

    @telling("color that")
    def set_color(self, name: str, color: Vector) -> str:
        prim = self._own(name)
        object_color.set_color(prim, color)
        return str(prim.GetPath())

    def _move(self, prim: Usd.Prim, path: Sdf.Path) -> Usd.Prim:
        """Move the prim in the root layer, and update whatever refers to it or into it."""
        old = prim.GetPath()
        editor = Usd.NamespaceEditor(self._stage)
        editor.MovePrimAtPath(old, path)
        self._apply(editor, prim, "move")
        opened = self._document.opened
        opened.selection = [
            str(Sdf.Path(selected).ReplacePrefix(old, path)) for selected in opened.selection
        ]
        return self._arrived(path, old.name, "moved")

    def _remove(self, prim: Usd.Prim) -> None:
        if self._elsewhere(prim):
            prim.SetActive(False)
            return
        editor = Usd.NamespaceEditor(self._stage)
        editor.DeletePrimAtPath(prim.GetPath())
        self._apply(editor, prim, "delete")

    def _elsewhere(self, prim: Usd.Prim) -> list[str]:
        """Return the file names of the other layers that have opinions about the prim."""
        layers = (spec.layer for spec in prim.GetPrimStack())
        names = (layer.GetDisplayName() for layer in layers if layer != self._document.opened.layer)
        return list(dict.fromkeys(names))

    def _apply(self, editor: Usd.NamespaceEditor, prim: Usd.Prim, doing: str) -> None:
        name, able = prim.GetName(), None
        # ApplyEdits itself checks whether the edit is possible. The reason is searched for only
        # after a refusal.
        with suppress(Tf.ErrorException):
            if editor.ApplyEdits():
                return
        if prim:
            with suppress(Tf.ErrorException):
                able = editor.CanApplyEdits()
        # If the edit is possible, it was begun but not finished, so it is rolled back.
        if able is None or able:
            raise HostError(
                f"OpenUSD can't find what depends on '{name}', so it can't {doing} it;"
                f" {doing} the prims below it one by one instead"
            )
        if others := ", ".join(self._elsewhere(prim)[:3]):
            raise HostError(
                f"OpenUSD can't {doing} '{name}' here, because it is defined in {others};"
                f" {doing} it there, or {doing} a copy made with scene__duplicate"
            )
        raise HostError(f"OpenUSD can't {doing} '{name}': {able.whyNot or 'it gave no reason'}")

    def _arrived(self, path: Sdf.Path, name: str, doing: str) -> Usd.Prim:
        """Return the object at ``path``, where ``name`` should now be. Raises HostError if no
        object is there."""
        try:
            return self._find(str(path))
        except ObjectNotFound:
            raise HostError(
                f"'{name}' can't be {doing} here: a prim above it, or a relocation, determines"
                " what is there"
            ) from None


def identifier(name: str) -> str:
    """Return the name. Raises HostError if a prim can't have it."""
    if Sdf.Path.IsValidIdentifier(name):
        return name
    allowed = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "object"
    if not Sdf.Path.IsValidIdentifier(allowed):
        allowed = f"_{allowed}"
    raise HostError(
        f"'{name}' can't be a name in OpenUSD: use letters, digits and _, and don't begin with a"
        f" digit, as in '{allowed}'"
    )
