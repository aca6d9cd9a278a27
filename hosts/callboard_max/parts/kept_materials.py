"""Finds the scene's materials. 3ds Max doesn't list them, and keeps only the materials that nodes
use. So callboard stores the materials that nothing uses yet in an attribute of the scene's root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import AmbiguousName, MaterialNotFound, nearest_names
from callboard_max.application.names import objects
from callboard_max.parts.scene_memory import lasting_memory, memory

#: A material or a map, as pymxs wraps it. pymxs has no published types.
Material = Any


def identity(material: Material) -> int:
    """Return the number that identifies the material while its scene is open."""
    return int(rt.getHandleByAnim(material))


def class_of(material: Material) -> str:
    return str(rt.classOf(material))


def is_several(material: Material) -> bool:
    """Return whether the material is a Multi/Sub-Object material."""
    return class_of(material).lower() == "multimaterial"


def leaves(material: Material | None) -> list[Material]:
    """Return the materials that faces of a node with this material can have."""
    if material is None:
        return []
    if not is_several(material):
        return [material]
    return [leaf for part in material.materialList for leaf in leaves(part)]


def by_path() -> dict[str, Material]:
    """Return the materials by path. A material's path is its name, with its handle added if several
    share the name."""
    together: dict[int, Material] = {}
    for material in [*_kept(), *(leaf for node in objects() for leaf in leaves(node.material))]:
        together.setdefault(identity(material), material)
    names = [str(material.name) for material in together.values()]
    times = Counter(names)
    return {
        name if times[name] == 1 else f"{name}@{handle}": material
        for name, (handle, material) in zip(names, together.items(), strict=True)
    }


def paths(materials: Mapping[str, Material]) -> dict[int, str]:
    """Return the paths by handle."""
    return {identity(material): path for path, material in materials.items()}


def find(name: str) -> tuple[str, Material]:
    """Return the material and its path. Raises MaterialNotFound or AmbiguousName."""
    known = by_path()
    if name in known:
        return name, known[name]
    named = [path for path, material in known.items() if str(material.name) == name]
    if len(named) > 1:
        raise AmbiguousName(name, named)
    raise MaterialNotFound(name, nearest_names(name, known))


def free_name(name: str) -> str:
    """Return the name. If it is taken, return it with a number added, such as ``Oak001``. 3ds Max
    itself lets materials share names."""
    if any(letter in "/@" or not letter.isprintable() for letter in name) or not name.strip():
        raise HostError(
            f"'{name[:64]}' can't be a name here: use 1 to 255 printable characters without / and @"
        )
    taken = {str(material.name) for material in by_path().values()}
    number, free = 1, name
    while free in taken:
        free, number = f"{name}{number:03}", number + 1
    return free


def keep(material: Material) -> None:
    rt.append(lasting_memory().materials, material)


def _kept() -> list[Material]:
    kept = memory()
    return [] if kept is None else [each for each in kept.materials if each is not None]
