"""Adds drivers to properties of objects, bones, shape keys, modifiers, materials and other data."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.drivers import resolves
from callboard_blender.parts.property_values import choices
from callboard_blender.parts.rig_changes import express, listed, refuse_foreign

#: The datablocks that belong to others, by the property that leads to them.
_INSIDE = ("data", "shape_keys", "node_tree")
_KINDS = {
    "single": "SINGLE_PROP",
    "transform": "TRANSFORMS",
    "rotation": "ROTATION_DIFF",
    "distance": "LOC_DIFF",
}


class NewDrivers:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def add(
        self,
        kind: str,
        name: str,
        path: str,
        variables: Sequence[Json],
        way: str,
        formula: str | None,
    ) -> tuple[Any, bpy.types.ID, Any]:
        """Add a driver to this property. Return the driver, the datablock that lists name with it,
        and the driven value as it is now."""
        top = self._blocks.find(kind, name)
        owner, inner = inside(top, path)
        holder = top if owner.is_embedded_data else owner
        refuse_foreign(top)
        refuse_foreign(holder)
        inner, index = indexed(owner, inner, path)
        _refuse_moved(owner, inner, index)
        self._changes.touch()
        try:
            curve = owner.driver_add(inner, *([] if index is None else [index]))
        except TypeError as error:
            raise HostError(f"Blender can't drive '{path}' of '{name}': {error}") from None
        driver = curve.driver
        for each in driver.variables.values():  # Some versions begin with one.
            driver.variables.remove(each)
        for each in variables:
            self._add_variable(driver, each)
        if way != "scripted":
            driver.type = way.upper()
        else:
            express(driver, formula or variables[0]["name"])
        owner.update_tag()
        view_layer().update()
        forget()
        value = owner.path_resolve(inner)
        return curve, holder, value if index is None else value[index]

    def _add_variable(self, driver: Any, asked: Json) -> None:
        name = asked["name"]
        if not name.isidentifier() or keyword.iskeyword(name) or name in driver.variables:
            raise WrongArgument(f"'{name}' can't be the name of a variable, or is there twice")
        variable = driver.variables.new()
        variable.name = name
        kind = asked.get("reads", "single")
        variable.type = _KINDS[kind]
        targets = [(asked["target"], asked.get("bone"))]
        if kind in ("rotation", "distance"):
            if "second" not in asked:
                raise WrongArgument(f"'{name}' compares two objects; give second")
            targets.append((asked["second"], asked.get("second_bone")))
        if kind == "single":
            self._read_property(variable.targets[0], asked)
            return
        for target, (named, bone) in zip(variable.targets, targets, strict=False):
            target.id = obj = self._blocks.find("objects", named)
            bones = obj.pose.bones if obj.pose else {}
            if bone is not None and bone not in bones:
                raise HostError(f"'{obj.name}' has no bone '{bone}'; {listed(bones.keys())}")
            target.bone_target = bone or ""
            if "space" in asked:
                target.transform_space = f"{asked['space'].upper()}_SPACE"
        if kind == "transform":
            target = variable.targets[0]
            channel, known = asked.get("property", "").upper(), choices(target, "transform_type")
            if channel not in known:
                raise HostError(
                    f"'{name}' reads a transform channel; give property, which is one of "
                    + ", ".join(known).lower()
                )
            target.transform_type = channel

    def _read_property(self, target: Any, asked: Json) -> None:
        if "property" not in asked:
            raise WrongArgument(f"'{asked['name']}' reads a property; give property")
        top = self._blocks.find(asked.get("target_kind", "objects"), asked["target"])
        read, path = inside(top, asked["property"])
        for word in choices(target, "id_type"):
            target.id_type = word
            try:
                target.id = read
            except TypeError:
                continue
            if target.id == read:
                break
        if target.id != read:
            raise HostError(f"a driver can't read '{read.name_full}'")
        target.data_path = path
        if not resolves(target):
            raise HostError(
                f"'{read.name_full}' has no '{path}'; give property, such as location[2],"
                ' ["mood"] or data.shape_keys.key_blocks["Smile"].value'
            )


def inside(block: Any, path: str) -> tuple[Any, str]:
    """Return the datablock that has the property at this path, and the rest of the path."""
    while match := re.match(rf"({'|'.join(_INSIDE)})\.(.+)$", path):
        inner = getattr(block, match[1], None)
        if not isinstance(inner, bpy.types.ID):
            break
        block, path = inner, match[2]
    return block, path


def indexed(owner: Any, inner: str, path: str) -> tuple[str, int | None]:
    """Return the path of the property without its index, and the index. Raises HostError when there
    is no such single value."""
    match = re.fullmatch(r"(.+)\[(\d+)\]", inner)
    for rest, index in ((match[1], int(match[2])) if match else ("", None), (inner, None)):
        try:
            value: Any = owner.path_resolve(rest) if rest else None
            of: Any = owner.path_resolve(rest, False).id_data if rest else None
        except (ValueError, AttributeError):
            continue
        if rest and of != owner:
            raise HostError(f"'{path}' belongs to '{of.name_full}'; give that as of")
        several = hasattr(value, "__len__") and not isinstance(value, (str, dict))
        if index is None and isinstance(value, (bool, int, float)):
            return rest, None
        if several and index is not None and index < len(value):
            return rest, index
        if several and index is None and len(value) and isinstance(value[0], (int, float)):
            raise HostError(f"'{path}' has {len(value)} values; give one, such as {path}[0]")
    raise HostError(
        f"'{owner.name_full}' has no number at '{inner}'; give a path such as location[2],"
        ' pose.bones["Arm"].rotation_euler[0], modifiers["Bevel"].width,'
        ' data.shape_keys.key_blocks["Smile"].value or, of a material,'
        ' node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value'
    )


def _refuse_moved(owner: Any, path: str, index: int | None) -> None:
    place = (path, index or 0)
    if any((each.data_path, each.array_index) == place for each in drivers_of(owner)):
        raise HostError(
            f"'{path}' of '{owner.name_full}' has a driver; change it with"
            " blender_data__set_driver, or remove it with blender_data__remove_driver"
        )
    if any((each.data_path, each.array_index) == place for each in curves_of(owner)):
        raise HostError(
            f"'{path}' of '{owner.name_full}' has keys, which a driver would replace; remove them"
            " first"
        )
