"""Changes to drivers and constraints, also of objects that aren't in the shown scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from callboard.errors import HostError
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import is_brought, refuse_linked
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.constraints import fault_of
from callboard_blender.parts.curves import drivers_of
from callboard_blender.parts.data_blocks import DataBlocks, drivers
from callboard_blender.parts.drivers import drives_of, is_named, resolves

#: Kinds of data that a driver can read, with Blender's words for them.
READ = {
    "objects": "OBJECT",
    "scenes": "SCENE",
    "materials": "MATERIAL",
    "meshes": "MESH",
    "curves": "CURVE",
    "armatures": "ARMATURE",
    "cameras": "CAMERA",
    "lights": "LIGHT",
    "worlds": "WORLD",
    "node_groups": "NODETREE",
}
#: Objects that look along their negative Z axis.
_LOOKING = ("CAMERA", "LIGHT")


class RigChanges:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def set_driver(
        self,
        of: str,
        drives: str,
        variable: str | None = None,
        target: str | None = None,
        target_kind: str = "objects",
        property: str | None = None,
        formula: str | None = None,
        mute: bool | None = None,
    ) -> tuple[Any, bpy.types.ID]:
        """Change what one variable of a driver reads, or the driver's expression, or mute the
        driver. Return the driver and the datablock that it belongs to."""
        curve, holder = _driver(of, drives)
        refuse_foreign(holder)
        read = None if target is None else self._blocks.find(target_kind, target)
        self._changes.touch()
        if target is not None or property is not None:
            _read(_variable(curve, variable), read, READ[target_kind], property)
        if formula is not None:
            express(curve.driver, formula)
        if mute is not None:
            curve.mute = mute
        self._changed(holder)
        return curve, holder

    def driver(self, of: str, drives: str) -> tuple[Any, bpy.types.ID]:
        """Return the driver and the datablock that it belongs to."""
        curve, holder = _driver(of, drives)
        return curve, holder

    def remove_driver(self, of: str, drives: str) -> None:
        curve, holder = _driver(of, drives)
        refuse_foreign(holder)
        self._changes.touch()
        curve.id_data.animation_data.drivers.remove(curve)
        self._changed(holder)

    def set_constraint(
        self,
        name: str,
        constraint: str | None,
        kind: str | None,
        target: str,
        target_bone: str | None = None,
        of_bone: str | None = None,
    ) -> tuple[bpy.types.Object, Any]:
        """Set the target of a constraint, which is added if ``kind`` is given. Return the object
        and the constraint."""
        obj, aimed = (self._blocks.find("objects", each) for each in (name, target))
        refuse_linked(obj)
        owner = _owner(obj, of_bone)
        there = None if kind else _constraint(obj, owner, constraint or "")
        if aimed == obj and not target_bone:
            raise HostError(f"'{obj.name}' can't be the target of its own constraint")
        self._changes.touch()
        each = there or _added(obj, owner, kind or "", constraint)
        if not hasattr(each, "target"):
            raise HostError(f"a constraint of the type {each.type.lower()} has no single target")
        each.target = aimed
        if each.target != aimed:
            raise HostError(f"Blender doesn't take '{aimed.name}' as the target of '{each.name}'")
        if hasattr(each, "subtarget"):
            each.subtarget = target_bone or ""
        elif target_bone:
            raise HostError(f"a constraint of the type {each.type.lower()} can't name a bone")
        if each.type == "CHILD_OF":
            each.set_inverse_pending = True  # Otherwise, the object would jump.
        self._changed(obj)
        if why := fault_of(each):
            raise HostError(f"with the target '{aimed.name}', it wouldn't work: {why}")
        return obj, each

    def remove_constraint(self, name: str, constraint: str, of_bone: str | None = None) -> str:
        """Remove the constraint, and the drivers of its values. Return the object's full path."""
        obj = self._blocks.find("objects", name)
        refuse_linked(obj)
        owner = _owner(obj, of_bone)
        doomed = _constraint(obj, owner, constraint)
        if owner == obj and is_brought(obj, "constraints", doomed.name):
            raise HostError(
                f"'{doomed.name}' comes from the linked object, so it would be back when this file"
                f" is opened again; switch it off with attributes__set"
            )
        self._changes.touch()
        path = doomed.path_from_id()
        for curve in drivers_of(obj):
            if curve.data_path.startswith(f"{path}."):
                obj.animation_data.drivers.remove(curve)
        owner.constraints.remove(doomed)
        self._changed(obj)
        return str(obj.name_full)

    def _changed(self, block: bpy.types.ID) -> None:
        block.update_tag()
        view_layer().update()
        forget()


def _driver(of: str, drives: str) -> tuple[Any, Any]:
    known = [each for each in drivers() if each is not None and each[1].name_full == of]
    fitting = [each for each in known if is_named(each[0], drives)]
    if not fitting:
        raise HostError(f"'{of}' has no driver of '{drives}'; {listed(_drives(known))}")
    if len(fitting) > 1:
        also = {type(each[1]).__name__ for each in fitting}
        raise HostError(
            f"'{of}' has several drivers of '{drives}', so give drives with its index: "
            f"{listed(_drives(fitting))}"
            if len(also) == 1
            else f"several things named '{of}' have a driver of '{drives}'; rename one of them with"
            " blender_data__rename"
        )
    return fitting[0]


def _drives(known: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    return (drives_of(curve, curve.id_data) for curve, _ in known)


def listed(names: Iterable[str]) -> str:
    there = sorted(names)
    return f"it has: {', '.join(there)}" if there else "it has none"


def refuse_foreign(holder: bpy.types.ID) -> None:
    if holder.library is not None or holder.override_library is not None:
        raise HostError(
            f"'{holder.name_full}' comes from another file, which decides about its drivers; change"
            " them there"
        )


def _variable(curve: Any, name: str | None) -> Any:
    variables = curve.driver.variables
    if name is None and len(variables) == 1:
        return variables[0]
    if name is None or name not in variables:
        why = f"no variable '{name}'" if name else "several variables, so give variable"
        raise HostError(f"the driver of '{curve.data_path}' has {why}; {listed(variables.keys())}")
    return variables[name]


def _read(variable: Any, read: Any, kind: str, property: str | None) -> None:
    """Have the variable read ``property`` of the datablock ``read``. What is None stays."""
    target = next((each for each in variable.targets if each.id is None), variable.targets[0])
    single = variable.type == "SINGLE_PROP"
    if read is not None:
        if single:
            target.id_type = kind
        target.id = read
        if target.id != read:
            raise HostError(f"the variable '{variable.name}' can't read '{read.name_full}'")
    if property is not None and variable.type == "TRANSFORMS":
        try:
            target.transform_type = property.upper()
        except TypeError as error:
            raise HostError(f"'{variable.name}' reads a transform channel: {error}") from None
    elif property is not None:
        if not single:
            raise HostError(f"'{variable.name}' compares two objects and reads no property")
        target.data_path = property
    if single and target.id is not None and not resolves(target):
        raise HostError(
            f"'{target.id.name_full}' has no '{target.data_path}'; give property, such as"
            ' location[2] or ["mood"]'
        )


def express(driver: Any, formula: str) -> None:
    """Set the expression. Only what Blender evaluates by itself is allowed. It would run anything
    else as Python code, and this tool doesn't need the permission to run code."""
    before = driver.type, driver.expression
    driver.type, driver.expression = "SCRIPTED", formula
    if not driver.is_simple_expression:
        driver.type, driver.expression = before
        known = ", ".join(driver.variables.keys()) or "none"
        raise HostError(
            f"'{formula}' isn't plain arithmetic. It may have numbers, frame, the driver's"
            f" variables ({known}), + - * /, comparisons, if else, and functions such as sin, min,"
            " clamp, radians and pow"
        )


def _owner(obj: bpy.types.Object, of_bone: str | None) -> Any:
    if of_bone is None:
        return obj
    bones = obj.pose.bones if obj.pose else {}
    if of_bone not in bones:
        raise HostError(f"'{obj.name}' has no bone '{of_bone}'")
    return bones[of_bone]


def _constraint(obj: bpy.types.Object, owner: Any, name: str) -> Any:
    if name in owner.constraints:
        return owner.constraints[name]
    bones = obj.pose.bones if obj.pose else ()
    held = [f"'{bone.name}'" for bone in bones if name in bone.constraints]
    hint = f"; give of_bone, which is one of {', '.join(held)}" if held and owner == obj else ""
    raise HostError(
        f"'{owner.name}' has no constraint '{name}'; {listed(owner.constraints.keys())}{hint}"
    )


def _added(obj: bpy.types.Object, owner: Any, kind: str, name: str | None) -> Any:
    try:
        each = owner.constraints.new(kind.upper())
    except (TypeError, RuntimeError) as error:
        raise HostError(f"Blender can't add a constraint of the type '{kind}': {error}") from None
    if name is not None:
        each.name = name
    if owner == obj and obj.type in _LOOKING and hasattr(each, "track_axis"):
        each.track_axis = "TRACK_NEGATIVE_Z"
        if each.type == "TRACK_TO":
            each.up_axis = "UP_Y"
    return each
