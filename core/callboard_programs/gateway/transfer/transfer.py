"""Implements ``instances__transfer``, which copies objects from one instance to another through a
USD file, with the instances' own tools. The source exports the file below a root of both instances.
The far side imports it in one call, which is one undo step. Then both instances report each object,
and the differences are listed. The result contains only facts that were read back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from callboard.content import Json
from callboard.errors import PeerError
from callboard_programs.gateway.transfer.common_folder import SharedFile, common_root, own_root
from callboard_programs.gateway.transfer.instance_calls import CallRefused, InstanceCalls
from callboard_programs.gateway.transfer.losses import MOVED, Losses
from callboard_programs.gateway.transfer.pairs import (
    Item,
    added,
    identifier,
    items_of,
    name_of,
    paired,
)
from callboard_programs.gateway.transfer.scene_facts import SceneFacts, names_in, read_facts
from callboard_programs.gateway.transfer.usd_tools import way_of

#: Maximum number of objects in one transfer, and maximum number of entries in each list of an
#: answer. The counts are always complete.
MOST_OBJECTS, LISTED = 2000, 100
_STEPS = 5
#: Maximum number of differences that a refusal describes.
_SAID = 3
#: Maximum seconds to wait for a host to finish writing or reading.
_PATIENCE = 30.0


async def transfer(
    source: InstanceCalls,
    far: InstanceCalls,
    wanted: Sequence[str] | None,
    folder: str | None,
    progress: Callable[[int, int, str], None],
) -> Json:
    """Copy the objects, and return the structured result. If this raises PeerError, the far side is
    unchanged unless the message says otherwise."""
    if folder is not None and not Path(folder).is_absolute():
        raise PeerError("folder must be an absolute path that both instances can reach")
    out_of, into = await way_of(source, "export"), await way_of(far, "import")
    root = await (own_root(source, folder) if folder else common_root(source, far))
    progress(1, _STEPS, f"reading {source.name}")
    tree = await names_in(source)
    asked = _with_below(tree, None if wanted is None else await _paths(source, wanted))
    there = await read_facts(source, tree, asked)
    before = await names_in(far)
    file = SharedFile(root, f"from_{identifier(source.name)}")
    imported = stays = False
    try:
        progress(2, _STEPS, f"exporting from {source.name}")
        await out_of.write(file.path, wanted)
        progress(3, _STEPS, f"importing into {far.name}")
        await into.read(file.path)
        imported = stays = True
        progress(4, _STEPS, f"reading {far.name}")
        here = await _copies(far, before)
        progress(5, _STEPS, "comparing")
        # Use a thread, because thousands of objects take a while, and other clients may call
        # in the meantime.
        reported, moved = await asyncio.to_thread(_reported, there, here)
        if moved:
            stays = not await _taken_back(far, before, here)
            raise PeerError(_why_not(far.name, moved, stays), data={"moved": moved[:LISTED]})
    finally:
        try:
            if not imported:
                await asyncio.shield(asyncio.gather(_settled(source), _settled(far)))
        finally:
            kept = await asyncio.shield(file.end(used=stays))
    return {"from": source.name, "to": far.name, **reported, "kept_files": kept[:LISTED]}


async def _copies(far: InstanceCalls, before: Mapping[str, str | None]) -> SceneFacts:
    """Return the facts about the objects that the import made. Raises PeerError."""
    try:
        after = await names_in(far)
        return await read_facts(far, after, [path for path in after if path not in before])
    except CallRefused as refused:
        raise PeerError(
            f"the objects were imported into {far.name}, but couldn't be read back "
            f"({refused.message}); look at them there, or undo the import with scene__undo"
        ) from None


async def _taken_back(
    far: InstanceCalls, before: Mapping[str, str | None], here: SceneFacts
) -> bool:
    """Undo the import. Return whether the copies are gone."""
    try:
        await far.call("scene__undo")
        return not set(here.asked) - set(before) & set(await names_in(far))
    except CallRefused:
        return False


def _why_not(far: str, moved: Sequence[Json], stays: bool) -> str:
    """Return a message with the reason for refusing the transfer, and advice."""
    named = [
        f"{', '.join(each['objects'][:3])}: {each['what']} {each['is']} instead of {each['was']}"
        for each in moved[:_SAID]
    ]
    more = f"; and {len(moved) - _SAID} more differences" if len(moved) > _SAID else ""
    done = (
        f"The copies are still in {far}, because they couldn't be undone: delete them there"
        if stays
        else f"The import was undone, and {far} is as before"
    )
    return (
        f"the objects didn't arrive in {far} as they were, in meters with Y up: "
        f"{'; '.join(named)}{more}. {done}. Transfer the others by naming them as objects, or "
        "simplify these first, for example by applying their transforms"
        " or turning curves into meshes"
    )


async def _settled(calls: InstanceCalls) -> None:
    """Wait until the instance answers again. A main thread that is writing or reading the file
    can't be stopped. Once the instance answers, the file has been written or read."""
    with suppress(CallRefused, asyncio.TimeoutError):
        await asyncio.wait_for(calls.call("scene__scene_info"), _PATIENCE)


def _reported(there: SceneFacts, here: SceneFacts) -> tuple[Json, list[Json]]:
    """Return the answer, and the losses for which the transfer is refused: a wrong position or
    size."""
    items = items_of(there)
    pairs = paired(there, items, here)
    losses = Losses(there, here, pairs)
    lost = losses.all(items)
    extra = added(here, pairs.values())
    moved = [each for each in lost if each["what"].startswith(MOVED)]
    answer = {
        "transferred": len(pairs),
        "objects": [{"from": a.path, "to": b.path} for a, b in pairs.items()][:LISTED],
        "renamed": _renamed(there, here, pairs)[:LISTED],
        "added": extra[:LISTED],
        "added_count": len(extra),
        "converted": {
            "meters_per_unit": [there.metres, here.metres],
            "up_axis": [there.up, here.up],
            "fps": [there.fps, here.fps],
        },
        "lost": lost[:LISTED],
        "lost_count": len(lost),
        "unchecked_keys": losses.unchecked[:LISTED],
        "undo": "one step: scene__undo in that instance undoes the whole import",
    }
    return answer, moved


def _renamed(there: SceneFacts, here: SceneFacts, pairs: Mapping[Item, Item]) -> list[Json]:
    names = ((name_of(there, a.path), name_of(here, b.path)) for a, b in pairs.items())
    return [{"from": was, "to": now} for was, now in names if was != now]


async def _paths(calls: InstanceCalls, wanted: Sequence[str]) -> list[str]:
    """Return the paths of the objects with these names. Raises PeerError for a name that isn't in
    the scene."""
    reported = await asyncio.gather(*(calls.call("scene__get_object", {"name": n}) for n in wanted))
    return [str(each.get("path")) for each in reported]


def _with_below(tree: Mapping[str, str | None], tops: Sequence[str] | None) -> list[str]:
    """Return these objects and all objects below them, in the scene's order. Raises PeerError."""
    chosen = set(tree if tops is None else tops)

    def belongs(path: str) -> bool:
        seen: set[str] = set()
        at: str | None = path
        while at is not None and at not in seen:
            if at in chosen:
                return True
            seen.add(at)
            at = tree.get(at)
        return False

    paths = [path for path in tree if belongs(path)]
    if not paths:
        raise PeerError("there is nothing to transfer: the scene is empty")
    if len(paths) > MOST_OBJECTS:
        raise PeerError(
            f"this would transfer {len(paths)} objects, including the objects below them; the "
            f"maximum is {MOST_OBJECTS} at once: name fewer objects"
        )
    return paths
