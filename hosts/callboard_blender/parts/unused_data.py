"""Finds and removes data that no scene uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_kept_by_library
from callboard_blender.application.names import forget, view_layer
from callboard_blender.application.state_mark import NAME as MARK
from callboard_blender.parts.data_blocks import DataBlocks, collections

#: Kinds of data that are in use by being there.
_ROOTS = ("scenes", "window_managers", "workspaces", "screens", "libraries")
#: Kinds of data that artists keep with a fake user, as their tools and notes.
_TOOLS = ("brushes", "palettes", "paint_curves", "texts", "linestyles")
#: Maximum number of users that are named.
_MOST = 5

Names = dict[str, list[str]]


class UnusedData:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def purge(
        self, empty_collections: bool, fake_users: bool, dry_run: bool
    ) -> tuple[Names, Names]:
        """Remove data that nothing in use refers to, and if asked to, also empty collections and
        what only a fake user keeps. Return the names by kind of what was removed, or would be, and
        of what only a fake user keeps."""
        users = bpy.data.user_map()
        empty = _empty_collections(users) if empty_collections else set()
        loose = empty | unused(users, empty, fake_users=False)
        doomed = loose if fake_users else empty | unused(users, empty)
        told = by_kind(doomed), by_kind(loose - doomed)
        if not dry_run:
            self._remove(doomed)
        return told

    def remove(self, kind: str, names: Sequence[str]) -> tuple[list[str], Names]:
        """Remove these datablocks, whether or not a fake user keeps them, and what the removed
        objects alone used as their data. Return the names of the datablocks, and the names by kind
        of that data. Raises HostError when something that a scene uses, or an asset, refers to
        one."""
        if kind in _ROOTS:
            raise WrongArgument(f"{kind} can't be removed here")
        doomed = {each for name in names for each in self._blocks.matching(kind, name)}
        users = bpy.data.user_map()
        loose = unused(users, doomed, fake_users=False)
        for each in doomed:
            using = sorted(one.name_full for one in users.get(each, set()) - loose - doomed)
            if using:
                instead = "; scene__delete deletes what is in a scene" if kind == "objects" else ""
                raise HostError(
                    f"'{each.name_full}' is used by {', '.join(using[:_MOST])}{instead}"
                )
            if kind == "objects":
                refuse_kept_by_library(each, doomed)
            elif each.library is not None:
                raise HostError(f"'{each.name_full}' is linked; blender_data__purge removes it")
        data = {each.data for each in doomed if kind == "objects" and each.data} & loose
        data = with_keys(each for each in data if not each.use_fake_user)
        told = sorted(each.name_full for each in doomed), by_kind(data)
        self._remove(doomed | data)
        return told

    def _remove(self, doomed: set[Any]) -> None:
        self._changes.touch()
        bpy.data.batch_remove(doomed)
        view_layer().update()
        forget()


def with_keys(blocks: Iterable[Any]) -> set[Any]:
    """Return the datablocks with their shape keys, which Blender 3.4 doesn't remove with them."""
    held = set(blocks)
    return held | {each.shape_keys for each in held if getattr(each, "shape_keys", None)}


def scenes_of() -> dict[Any, list[str]]:
    """Return the names of the scenes that each object is in."""
    holding: defaultdict[Any, list[str]] = defaultdict(list)
    for scene in bpy.data.scenes:
        for obj in scene.objects:
            holding[obj].append(scene.name_full)
    return holding


def unused(users: Any, gone: Collection[Any] = (), fake_users: bool = True) -> set[Any]:
    """Return what would be unused without ``gone``: the data that can't be reached from scenes,
    from the window, or from what a fake user keeps. ``users`` is Blender's map of users."""
    uses: defaultdict[Any, list[Any]] = defaultdict(list)
    for each, using in users.items():
        for one in using:
            uses[one].append(each)
    everything, reached = set(), set()
    for kind, data in collections():
        for each in data:
            everything.add(each)
            kept = each.use_fake_user and (fake_users or each.asset_data or kind in _TOOLS)
            # Blender counts a user that isn't among the data of the file. An extra user only means
            # that an editor once showed the data, but Blender keeps such pictures of its own.
            extra = each.use_extra_user and getattr(each, "source", "") != "VIEWER"
            unseen = each.users > each.use_fake_user + extra and not users.get(each)
            if kind in _ROOTS or kept or unseen or each.name == MARK:
                reached.add(each)
    reached -= set(gone)
    waiting = list(reached)
    while waiting:
        new = set(uses.get(waiting.pop(), ())) - reached - set(gone)
        reached |= new
        waiting += new
    return everything - reached - set(gone)


def by_kind(blocks: set[Any]) -> Names:
    names = {
        kind: sorted(each.name_full for each in data if each in blocks)
        for kind, data in collections()
    }
    return {kind: each for kind, each in names.items() if each}


def _empty_collections(users: Any) -> set[Any]:
    """Return this file's collections that only scenes and other collections use, and that have
    nothing in them, or only such collections."""
    physics = [each.rigidbody_world for each in bpy.data.scenes if each.rigidbody_world]
    kept = {each for world in physics for each in (world.collection, world.constraints)}
    holders = (bpy.types.Scene, bpy.types.Collection)
    free = {
        each
        for each in bpy.data.collections
        if not (each.objects or each.library or each.override_library or each in kept)
        and not (each.use_fake_user or each.asset_data)
        and all(isinstance(one, holders) for one in users.get(each, ()))
    }
    while holding := {each for each in free if not free.issuperset(each.children)}:
        free -= holding
    return free
