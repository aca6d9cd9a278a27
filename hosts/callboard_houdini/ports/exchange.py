"""The ``exchange`` port: exchanging files with other programs. Houdini reads such files into its
own geometry, and writes its geometry to them. It handles FBX and Alembic files with nodes that stay
linked to the file, so these formats aren't offered here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import hou

from callboard.errors import HostError
from callboard.host import Axes, FileFormat, is_such, sixteen_of
from callboard_houdini.application.names import (
    find,
    objects,
    root,
    selected_paths,
    set_selection,
    telling,
)
from callboard_houdini.application.units import meters_per_unit, up_axis
from callboard_houdini.parts.parms import parm
from callboard_houdini.parts.shapes import geometry
from callboard_qt import ApplicationExchange, turned_between

_GEOMETRY = ("obj", "stl", "ply")


class HoudiniExchange(ApplicationExchange):
    application = "Houdini"
    no_usd = "Houdini's OpenUSD is missing; repair the installation"

    @cached_property
    def _known(self) -> dict[str, bool]:
        """Return the results of ``_can`` by suffix, filled in as suffixes are tested."""
        return {}

    def _format(self, name: str, suffixes: tuple[str, ...]) -> FileFormat:
        if name not in _GEOMETRY:
            missing = f"{name} needs nodes in Houdini; use houdini_networks, or USD"
            return FileFormat(name, (), (), missing=missing)
        for each in suffixes:
            if each not in self._known:
                self._known[each] = _can(each)
        can = tuple(each for each in suffixes if self._known[each])
        missing = "" if can else f"this Houdini has no translator for {name}; use OBJ or USD"
        return FileFormat(name, can, can, 1.0, "Y" if name == "obj" else "Z", missing)

    def _read(self, path: str, kind: str, axes: Axes | None, parent: str | None) -> None:
        assert axes is not None
        file, above = Path(path), None if parent is None else find(parent)
        with telling(f"import '{file.name}'"):
            shape = hou.Geometry()
            shape.loadFromFile(str(file))
            if not shape.intrinsicValue("pointcount"):
                raise HostError(f"'{file.name}' contains no geometry")
            shape.transform(_matrix(axes, _scene_axes()))
            network = root() if above is None else above.parent() or root()
            node = network.createNode("geo", file.stem, force_valid_node_name=True)
            assert isinstance(node, hou.ObjNode)
            for left in node.children():
                left.destroy()
            made = node.createNode("stash", kind)
            assert isinstance(made, hou.SopNode)
            parm(made, "stash").set(shape)
            made.setDisplayFlag(True)
            made.setRenderFlag(True)
            if above is not None:
                node.setInput(0, above)
            node.moveToGoodPosition(move_inputs=False, move_outputs=False, move_unconnected=False)

    def _write(
        self, file: Path, kind: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> None:
        assert axes is not None
        counted = _matrix(_scene_axes(), axes)
        with telling(f"export '{file.name}'"):
            whole = hou.Geometry()
            for node in _wanted(None if objects is None else self._with_below(objects)):
                shape = geometry(node)
                if shape is not None:
                    _refuse_others(node, shape)
                    part = hou.Geometry()
                    part.merge(shape)
                    part.transform(node.worldTransform() * counted)
                    whole.merge(part)
            if not whole.intrinsicValue("primitivecount"):
                raise HostError("there are no faces to write")
            whole.saveToFile(str(file))

    @contextmanager
    def _only(self, objects: Sequence[str] | None) -> Iterator[None]:
        # Houdini doesn't count selecting as a change.
        before = selected_paths()
        try:
            if objects is not None:
                set_selection(objects)
            yield
        finally:
            set_selection(before)


def _wanted(paths: set[str] | None) -> list[hou.ObjNode]:
    return [each for each in objects() if paths is None or each.path() in paths]


def _refuse_others(node: hou.ObjNode, shape: hou.Geometry) -> None:
    """Raise HostError for geometry that isn't polygons, which these formats would leave out."""
    if not all(isinstance(prim, hou.Polygon) for prim in shape.prims()):
        raise HostError(
            f"'{node.name()}' shows geometry that isn't polygons; convert it to polygons, or name"
            " the other objects"
        )


def _scene_axes() -> Axes:
    return Axes(meters_per_unit(), up_axis())


def _matrix(there: Axes, here: Axes) -> hou.Matrix4:
    return hou.Matrix4(sixteen_of(turned_between(there, here)))


def _can(suffix: str) -> bool:
    """Return whether Houdini writes and reads such files. This is tested once, because Houdini
    doesn't list the types that it supports, and writes unknown types in its own format."""
    with TemporaryDirectory(prefix="callboard-") as folder:
        file = Path(folder, f"face{suffix}")
        face, read = hou.Geometry(), hou.Geometry()
        face.createPolygons(
            # The published stubs require one flat sequence. The documentation requires one for each
            # polygon.
            [face.createPoints([(0, 0, 0), (1, 0, 0), (0, 1, 0)])]  # type: ignore[list-item,unused-ignore]
        )
        try:
            face.saveToFile(str(file))
            if not is_such(file):
                return False
            read.loadFromFile(str(file))
        except (hou.Error, OSError):
            return False
        return bool(read.intrinsicValue("primitivecount") == 1)
