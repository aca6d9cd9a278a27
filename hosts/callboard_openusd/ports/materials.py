"""The ``materials`` port: materials and their objects."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pxr import Sdf, Usd, UsdGeom, UsdShade, Vt

from callboard.errors import HostError
from callboard.host import AmbiguousName, Json, MaterialNotFound, Texture, nearest_names
from callboard_openusd.application.document import UsdPort, telling
from callboard_openusd.application.layout import home
from callboard_openusd.parts import surfaces
from callboard_openusd.parts.copies import copy
from callboard_openusd.parts.instances import owned
from callboard_openusd.ports.edit import identifier
from callboard_openusd.ports.scene import doubt

#: The scope of new materials.
_SCOPE = "Looks"
_PURPOSES = (UsdShade.Tokens.allPurpose, UsdShade.Tokens.preview, UsdShade.Tokens.full)


class UsdMaterials(UsdPort):
    def names(self) -> Mapping[str, str]:
        return {str(prim.GetPath()): prim.GetName() for prim in self._all()}

    @telling("read that material")
    def get(self, name: str) -> Json:
        material = self._find(name)
        prim = material.GetPrim()
        why = doubt(self._stage, prim)
        return {
            "name": prim.GetName(),
            "path": str(prim.GetPath()),
            **surfaces.read(material),
            **({"doubt": why} if why else {}),
        }

    @telling("read the materials")
    def users(self) -> Mapping[str, Sequence[str]]:
        """Return the users. If a group's material applies to everything below it, only the group is
        reported."""
        shapes = [prim for prim in self._stage.Traverse() if prim.IsA(UsdGeom.Gprim)]
        parts = [part for shape in shapes for part in _parts(shape)]
        users: dict[str, dict[str, None]] = {}
        for purpose in _PURPOSES:
            bound, bindings = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(
                [*shapes, *parts], purpose
            )
            for material, binding in zip(bound, bindings, strict=True):
                if material:
                    owner = binding.GetPrim()
                    owner = owner.GetParent() if owner.IsA(UsdGeom.Subset) else owner
                    known = users.setdefault(str(material.GetPath()), {})
                    known[str(owner.GetPath())] = None
        return {path: list(owners) for path, owners in users.items()}

    @telling("read its materials")
    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        prim = self._document.names.find(name)
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        materials: dict[str, list[int] | None] = {str(material.GetPath()): None} if material else {}
        for part in _parts(prim):
            own = UsdShade.MaterialBindingAPI(part).ComputeBoundMaterial()[0]
            if own and str(own.GetPath()) not in (materials if material else ()):
                faces = UsdGeom.Subset(part).GetIndicesAttr().Get() or ()
                key = str(own.GetPath())
                materials[key] = [*(materials.get(key) or ()), *map(int, faces)]
        return materials

    @telling("create that material")
    def create(self, name: str | None) -> str:
        above = self._place()
        if not self._stage.GetPrimAtPath(above):
            UsdGeom.Scope.Define(self._stage, above)
        path = self._document.opened.free_path(above, identifier(name or "Material"))
        surfaces.define(self._stage, path)
        return str(path)

    @telling("copy that material")
    def fork(self, name: str, objects: Sequence[str]) -> str:
        material = self._find(name)
        above = self._place()
        if not self._stage.GetPrimAtPath(above):
            UsdGeom.Scope.Define(self._stage, above)
        path = self._document.opened.free_path(above, material.GetPrim().GetName())
        copy(material.GetPrim(), self._document.opened, path)
        forked = UsdShade.Material(self._stage.GetPrimAtPath(path))
        for each in objects:
            prim = owned(self._document.names.find(each))
            for owner in (prim, *_parts(prim)):
                _rebind(owner, material, forked)
        return str(path)

    @telling("set that material")
    def set(self, name: str, values: Mapping[str, object]) -> str:
        material = self._own(name)
        surfaces.write(material, values)
        return str(material.GetPath())

    @telling("set that texture")
    def set_texture(self, name: str, slot: str, texture: Texture | None) -> str:
        material = self._own(name)
        asset, uvs = "", None
        if texture is not None:
            asset = asset_of(texture.path, self._document.opened.folder)
            uvs = self._uvs(str(material.GetPath()))
        surfaces.write_texture(material, slot, texture, asset, uvs)
        return str(material.GetPath())

    @telling("assign that material")
    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        material = self._find(name)
        prims = [owned(self._document.names.find(each)) for each in objects]
        for prim in prims:
            if faces is not None:
                _bind_faces(prim, material, faces)
            else:
                _bind(prim, material)
        return [str(prim.GetPath()) for prim in prims]

    def _all(self) -> list[Usd.Prim]:
        return [prim for prim in self._stage.Traverse() if prim.IsA(UsdShade.Material)]

    def _find(self, name: str) -> UsdShade.Material:
        if name.startswith("/"):
            prim = self._stage.GetPrimAtPath(name) if Sdf.Path.IsValidPathString(name) else None
            if prim and prim.IsActive() and prim.IsA(UsdShade.Material):
                return UsdShade.Material(prim)
        known = self._all()
        alike = [prim for prim in known if prim.GetName() == name]
        if len(alike) > 1:
            raise AmbiguousName(name, [str(prim.GetPath()) for prim in alike[:10]])
        if not alike:
            raise MaterialNotFound(name, nearest_names(name, (prim.GetName() for prim in known)))
        return UsdShade.Material(alike[0])

    def _own(self, name: str) -> UsdShade.Material:
        return UsdShade.Material(owned(self._find(name).GetPrim()))

    def _place(self) -> Sdf.Path:
        """Return the path of the scope for new materials. It is below the prim that a reference to
        the file would include."""
        main = self._stage.GetDefaultPrim()
        if main and main.IsActive() and not main.IsInstance() and not main.IsA(UsdGeom.Gprim):
            return main.GetPath().AppendChild(_SCOPE)
        return home(self._stage).AppendChild(_SCOPE)

    def _uvs(self, path: str) -> str | None:
        """Return the name of the texture coordinates of the first user that has any."""
        for user in self.users().get(path, ()):
            for prim in Usd.PrimRange(self._stage.GetPrimAtPath(user)):
                for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues():
                    if primvar.GetTypeName() in (
                        Sdf.ValueTypeNames.TexCoord2fArray,
                        Sdf.ValueTypeNames.TexCoord2hArray,
                        Sdf.ValueTypeNames.TexCoord2dArray,
                    ):
                        return str(primvar.GetPrimvarName())
        return None


def _parts(prim: Usd.Prim) -> list[Usd.Prim]:
    """Return the groups of the object's faces that have a material."""
    if not prim.IsA(UsdGeom.Gprim):
        return []
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    return [
        subset.GetPrim()
        for subset in subsets
        if UsdShade.MaterialBindingAPI(subset.GetPrim()).GetDirectBinding().GetMaterial()
    ]


def _rebind(owner: Usd.Prim, old: UsdShade.Material, new: UsdShade.Material) -> None:
    binding = UsdShade.MaterialBindingAPI(owner)
    for purpose in _PURPOSES:
        direct = binding.GetDirectBinding(purpose)
        if direct.GetMaterial() and direct.GetMaterialPath() == old.GetPath():
            UsdShade.MaterialBindingAPI.Apply(owner).Bind(
                new, UsdShade.Tokens.fallbackStrength, purpose
            )


def _bind(prim: Usd.Prim, material: UsdShade.Material) -> None:
    if not prim.IsA(UsdGeom.Gprim) and prim.GetTypeName() not in ("Xform", "SkelRoot"):
        kind = str(prim.GetTypeName()).lower()
        raise HostError(f"'{prim.GetName()}' is of type {kind}, which can't have materials")
    for part in _parts(prim):
        UsdShade.MaterialBindingAPI(part).UnbindDirectBinding()
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    for purpose in _PURPOSES[1:]:
        if binding.GetDirectBindingRel(purpose):
            binding.UnbindDirectBinding(purpose)
    binding.Bind(material)
    for purpose in _PURPOSES:
        bound, decides = binding.ComputeBoundMaterial(purpose)
        if bound.GetPath() != material.GetPath():
            raise HostError(
                f"'{prim.GetName()}' can't have a material of its own: the binding"
                f" '{decides.GetPath()}' determines its material; change it there"
            )


def _bind_faces(prim: Usd.Prim, material: UsdShade.Material, faces: Sequence[int]) -> None:
    if not prim.IsA(UsdGeom.Mesh):
        raise HostError(
            f"'{prim.GetName()}' isn't a mesh, so it has no faces; call again without faces"
        )
    counts = UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get() or ()
    if max(faces) >= len(counts):
        raise HostError(
            f"'{prim.GetName()}' has {len(counts)} faces, numbered from 0; "
            f"there is no face {max(faces)}"
        )
    api = UsdShade.MaterialBindingAPI.Apply(prim)
    chosen, same = set(faces), None
    for subset in api.GetMaterialBindSubsets():
        own = UsdShade.MaterialBindingAPI(subset.GetPrim()).GetDirectBinding()
        indices = list(subset.GetIndicesAttr().Get() or ())
        if own.GetMaterial() and own.GetMaterialPath() == material.GetPath():
            same, chosen = subset, chosen.union(indices)
        elif not chosen.isdisjoint(indices):
            kept = [index for index in indices if index not in chosen]
            subset.GetIndicesAttr().Set(Vt.IntArray(kept))
    indices = Vt.IntArray(sorted(chosen))
    if same is None:
        name = _free_child(prim, material.GetPrim().GetName())
        same = api.CreateMaterialBindSubset(name, indices)
        UsdShade.MaterialBindingAPI.Apply(same.GetPrim()).Bind(material)
    else:
        same.GetIndicesAttr().Set(indices)


def _free_child(prim: Usd.Prim, name: str) -> str:
    count, free = 0, name
    while prim.GetChild(free):
        count += 1
        free = f"{name}_{count}"
    return free


def asset_of(path: str, folder: Path | None) -> str:
    """Return the file's name in the layer, which is relative if the file is below the layer's
    folder."""
    full = Path(path)
    if folder is not None and full.is_relative_to(folder):
        return f"./{full.relative_to(folder).as_posix()}"
    return path.replace(os.sep, "/")
