"""Makes linked data, and overrides of it, the open file's own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.blend_named import is_own
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, view_layer
from callboard_blender.application.outside_paths import own_folders
from callboard_blender.parts.data_blocks import collections


class LocalData:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def make_local(self, libraries: Sequence[str]) -> tuple[list[Any], Json]:
        """Make local what comes from these libraries, or everything that is linked. Return the
        datablocks, and ``{renamed, removed}``: their earlier names where they differ, and the
        libraries that nothing uses any longer."""
        chosen = _libraries(libraries)
        wanted = {each for each in _everything() if _source(each) in chosen}
        wanted = {each for each in wanted if not getattr(each, "is_missing", False)}
        if not wanted:
            raise HostError("nothing of that comes from another file")
        self._changes.touch()
        names: dict[Any, str] = {}
        for each in [one for one in wanted if one.library is None]:
            names[_cleared(each)] = each.name
        linked = {each for each in wanted if each.library is not None}
        names |= _localized(linked)
        if not names:
            raise HostError(
                "nothing in this file uses what is linked; blender_data__purge removes it"
            )
        removed = _without_unused(linked - set(names))
        view_layer().update()
        forget()
        renamed = [
            {"was": old, "now": each.name} for each, old in names.items() if each.name != old
        ]
        return list(names), {"renamed": renamed, "removed": removed}


def linked() -> list[Any]:
    """Return everything in the file that comes from another file, overrides included."""
    return [each for each in _everything() if _source(each) is not None]


def _everything() -> Iterable[Any]:
    own = own_folders()
    # Blender links brushes from files that come with it.
    own_libraries = {
        each for each in bpy.data.libraries if is_own(bpy.path.abspath(each.filepath), own)
    }
    for kind, data in collections():
        # A shape key follows its mesh.
        if kind not in ("libraries", "shape_keys"):
            yield from (each for each in data if _source(each) not in own_libraries)


def _source(each: Any) -> Any:
    """Return the library that the datablock, or the one that it overrides, comes from, or None."""
    override = each.override_library
    reference = override.reference if override is not None else None
    return each.library if reference is None else reference.library


def _libraries(names: Sequence[str]) -> set[Any]:
    if not names:
        return set(bpy.data.libraries)
    chosen = set()
    for name in names:
        named = [each for each in bpy.data.libraries if name in (each.filepath, each.name)]
        if not named:
            known = ", ".join(each.filepath for each in bpy.data.libraries) or "none"
            raise HostError(f"nothing is linked from '{name}'; the linked files are: {known}")
        chosen.update(named)
    return chosen


def _localized(left: set[Any]) -> dict[Any, str]:
    """Put local copies in place of these linked datablocks, from users to used, so that what
    nothing local uses stays linked. Return the copies with the names of the originals."""
    made: dict[Any, str] = {}
    copies: dict[Any, Any] = {}
    left = set(left)
    while left:
        users = bpy.data.user_map(subset=left)
        ready = [each for each in left if any(one.library is None for one in users.get(each, ()))]
        if not ready:
            break
        left.difference_update(ready)
        for each in ready:
            # If Blender itself makes data local, an undo can leave its users without it.
            copies[each] = each.copy()
            made[copies[each]] = each.name
        for each, own in copies.items():
            each.user_remap(own)
    return made


def _cleared(each: Any) -> Any:
    """Return the datablock, which isn't an override any longer."""
    known = each.bl_rna.functions["make_local"].parameters
    can_clear = "clear_liboverride" in known
    made = each.make_local(**({"clear_liboverride": True} if can_clear else {}))
    if made is None or made.override_library is not None:
        why = "" if can_clear else "; before Blender 3.5, do that to overrides in the Outliner"
        raise HostError(f"Blender can't make '{each.name_full}' local{why}")
    return made


def _without_unused(gone: set[Any]) -> list[str]:
    """Remove what is still linked though nothing of this file uses it any longer. Return the
    libraries that were removed with it."""
    users = bpy.data.user_map()
    uses = defaultdict(set)
    for each, using in users.items():
        for user in using:
            uses[user].add(each)
    waiting = [each for each in users if each.library is None]
    reached = set(waiting)
    while waiting:
        new = uses[waiting.pop()] - reached
        reached |= new
        waiting += new
    bpy.data.batch_remove(gone - reached)
    empty = [each for each in bpy.data.libraries if not each.users_id]
    paths = [each.filepath for each in empty]
    bpy.data.batch_remove(empty)
    return paths
