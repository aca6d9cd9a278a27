"""Describes drivers, which determine a value by what their variables read, and says why one is
broken or has no effect."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.curves import has

#: Names that every driver expression can use without defining them.
_GIVEN = ("frame", "self", "depsgraph")
#: The path of what can be switched off, and the rest of a path.
_SWITCHED = (
    r'((?:pose\.bones\["(?:[^"\\]|\\.)*"\]\.)?'
    r'(?:modifiers|constraints|key_blocks|nodes)\["(?:[^"\\]|\\.)*"\])\.?(.*)$'
)
#: One step of a path: a property, a name in a list or of a custom property, or a number.
_STEP = re.compile(r'\.?([A-Za-z_]\w*)|\["([^"\\]*)"\]|\[\d+\]')
#: What switches it off. A driver of that has an effect.
_SWITCHES = ("mute", "enabled", "show_viewport", "show_render")


def driver_json(curve: Any, owner: bpy.types.ID) -> Json:
    """Return a description of what the driver drives and what it reads. ``valid`` is false if it is
    broken, ``works`` is false if it has no effect, broken or not, and ``why`` says
    every reason. ``owner`` is the datablock in the file that the driver belongs to."""
    driver, broken = curve.driver, why_broken(curve)
    why = [*broken, *why_idle(curve)]
    targets = [target for each in driver.variables for target in each.targets]
    entry: Json = {
        "of": owner.name_full,
        "drives": drives_of(curve, curve.id_data),
        "type": driver.type.lower(),
        "expression": driver.expression,
        "valid": not broken,
        "works": not why,
        "variables": [
            {"name": each.name, "reads": [_reads(each, target) for target in each.targets]}
            for each in driver.variables
        ],
        "uses": sorted({each.id.name_full for each in targets if each.id}),
    }
    if curve.mute:
        entry["muted"] = True
    return {**entry, "why": "; ".join(why)} if why else entry


def drives_of(curve: Any, owner: bpy.types.ID) -> str:
    """Return the path of the value that the driver or the curve determines. It ends with an index
    if the value is one of several, or isn't there, so that Blender doesn't know."""
    try:
        value = owner.path_resolve(curve.data_path)
    except ValueError:
        value = ()
    several = hasattr(value, "__len__") and not isinstance(value, (str, set))
    return _indexed(curve) if several else str(curve.data_path)


def is_named(curve: Any, name: str) -> bool:
    """Return whether ``name`` names what the driver or the curve determines, with or without the
    index."""
    return name in (_indexed(curve), curve.data_path)


def _indexed(curve: Any) -> str:
    return f"{curve.data_path}[{curve.array_index}]"


def _reads(variable: Any, target: Any) -> str:
    """Return what a variable reads from this target, such as ``Handle: rotation_euler[2]``."""
    if variable.type == "CONTEXT_PROP":
        return str(target.data_path)
    of = target.id.name_full if target.id else "nothing"
    bone = f" bone {target.bone_target}" if target.bone_target else ""
    if variable.type == "SINGLE_PROP":
        return f"{of}: {target.data_path}"
    channel = target.transform_type if variable.type == "TRANSFORMS" else variable.type
    return f"{of}{bone}: {channel.lower()}"


def why_broken(curve: Any) -> list[str]:
    """Return every reason why the driver doesn't work."""
    drives, driver, why = drives_of(curve, curve.id_data), curve.driver, []
    # Blender only judges drivers of scenes that have been evaluated.
    if not curve.is_valid or not has(curve.id_data, curve.data_path):
        meant = _meant(curve.id_data, curve.data_path)
        why.append(f"'{drives}' is driven, but isn't there{meant}")
    for variable in driver.variables:
        for target in variable.targets if variable.type != "CONTEXT_PROP" else ():
            if target.id is None:
                why.append(
                    f"the variable '{variable.name}' of the driver of '{drives}' has no target"
                )
            elif variable.type == "SINGLE_PROP" and not resolves(target):
                meant = _meant(target.id, target.data_path)
                lacks = f"'{target.id.name}' has no '{target.data_path}'"
                why.append(f"{lacks}, which drives '{drives}'{meant}")
    if driver.type == "SCRIPTED" and (unknown := _unknown(driver)):
        why.append(f"the expression of the driver of '{drives}' {unknown}: {driver.expression}")
    if not (why or driver.is_valid):
        expression = f": {driver.expression}" if driver.type == "SCRIPTED" else ""
        why.append(f"the driver of '{drives}' doesn't work{expression}")
    return why


def why_idle(curve: Any) -> list[str]:
    """Return every reason why a driver has no effect, even if it isn't broken."""
    drives = drives_of(curve, curve.id_data)
    muted = [f"the driver of '{drives}' is muted"] if curve.mute else []
    return [*muted, *_switched_off(curve.id_data, curve.data_path)]


def _switched_off(owner: bpy.types.ID, path: str) -> Iterator[str]:
    """Yield why what the driver changes is switched off: a modifier, constraint, shape key or
    node."""
    match = re.match(_SWITCHED, path)
    if match is None or match[2] in _SWITCHES or not has(owner, match[1]):
        return
    inside = owner.path_resolve(match[1])
    if isinstance(inside, bpy.types.Modifier):
        if not inside.show_viewport and not inside.show_render:
            yield f"the modifier '{inside.name}' is switched off"
        return
    constraint, key = bpy.types.Constraint, bpy.types.ShapeKey
    kinds = {constraint: "constraint", key: "shape key"}
    kind = next((word for each, word in kinds.items() if isinstance(inside, each)), "node")
    if inside.mute:
        yield f"the {kind} '{inside.name}' is muted"
    if kind == "constraint" and not inside.influence and match[2] != "influence":
        yield f"the influence of the constraint '{inside.name}' is 0"


def resolves(target: Any) -> bool:
    """Return whether the data that a driver's variable reads has the property that it names."""
    return has(target.id, target.data_path)


def _meant(owner: bpy.types.ID, path: str) -> str:
    """Return the end of an error about a path of which one step isn't there: the nearest path that
    is there, if one is near."""
    for step in _STEP.finditer(path):
        if has(owner, path[: step.end()]):
            continue
        before, wrong = path[: step.start()], step[1] or step[2] or ""
        inside = owner.path_resolve(before) if before else owner
        known = {}
        if isinstance(inside, bpy.types.bpy_struct):
            known = {each: f".{each}" for each, _ in inside.bl_rna.properties.items()}
        with suppress(AttributeError, TypeError):  # It has no entries and no custom properties.
            known |= {each: f'["{each}"]' for each in inside.keys()}  # noqa: SIM118
        for near in get_close_matches(wrong, known, 1, 0.5):
            meant = f"{before}{known[near]}{path[step.end() :]}".removeprefix(".")
            return f" (did you mean {meant}?)" if has(owner, meant) else ""
        break
    return ""


def _unknown(driver: Any) -> str | None:
    """Return why Blender can't evaluate the expression, or None."""
    if driver.is_simple_expression:
        return None
    try:
        nodes = [*ast.walk(ast.parse(driver.expression.strip(), mode="eval"))]
    except (SyntaxError, ValueError):
        return "can't be read"
    own = {each.arg for each in nodes if isinstance(each, ast.arg)}
    names = [each for each in nodes if isinstance(each, ast.Name)]
    own.update(each.id for each in names if isinstance(each.ctx, ast.Store))
    known = {*own, *driver.variables.keys(), *bpy.app.driver_namespace, *dir(builtins), *_GIVEN}
    unknown = sorted({each.id for each in names} - known)
    return f"names '{unknown[0]}', which is unknown here" if unknown else None
