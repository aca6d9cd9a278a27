"""The changes that calls to this server have made since it started, in the order in which the calls
ended, and described in the terms that artists use. Changes by other processes aren't recorded, and
this server can't undo them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from time import perf_counter, time
from typing import Any, NamedTuple

from callboard.calls.call import Call
from callboard.calls.tools import BATCH
from callboard.changes import Changes
from callboard.clients.owner import Owner
from callboard.content import Json

#: Maximum number of changes kept, and maximum number of objects kept for each.
MOST = 1_000
MOST_OBJECTS = 100

#: After this many seconds without a change, the agents' next change begins a new turn.
PAUSE = 120.0
#: The tool after which earlier steps can't be undone.
_OPENS = "scene__open_file"
#: The verbs that describe our tools' changes to objects, by wire name.
_DID = {
    "scene__transform": "moved",
    "scene__set_parent": "changed the parent of",
    "scene__duplicate": "copied to",
    "scene__set_material_color": "colored",
    "scene__select": "selected",
    "scene__open_file": "opened",
    "scene__save_file": "saved",
    "animation__set_keys": "set keys of",
    "animation__delete_keys": "deleted keys of",
    "animation__bake": "baked",
    "render__still": "rendered",
    "render__turntable": "rendered",
    "materials__assign": "assigned a material to",
    "usd__import_usd": "imported",
    "assets__import": "imported",
    "assets__import_model": "imported",
    "assets__import_textures": "imported",
    "assets__import_hdri": "imported",
    "usd__export_usd": "exported",
    "viewport__save_capture": "saved",
}


class SceneChange(NamedTuple):
    """A call that changed something.

    ``started`` is Unix time in seconds, and ``took_ms`` is in milliseconds. ``objects`` are the
    full paths of the objects that exist because of the call. ``undo_id`` is None when the host has
    no step to undo.
    """

    call: str
    tool: str
    client: str
    started: float
    took_ms: float
    words: str
    objects: tuple[str, ...]
    undo_id: str | None
    failed: bool = False
    undone: bool = False
    #: The client that made the call, or None for the artist.
    owner: Owner | None = None
    #: The client that undid the change, or None for the artist.
    undone_by: Owner | None = None


class ChangeBook:
    """The newest changes. Use it from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes: OrderedDict[str, SceneChange] = OrderedDict()
        self._all: tuple[SceneChange, ...] | None = ()
        #: Called when a change is added, undone or redone.
        self.changed: Changes[[]] = Changes()

    def all(self) -> tuple[SceneChange, ...]:
        """Return all changes, oldest first. It is the same tuple until something changes."""
        with self._lock:
            if self._all is None:
                self._all = tuple(self._changes.values())
            return self._all

    def call_ended(self, call: Call, result: Json | None, error: BaseException | None) -> None:
        """Record a call that ended, and what it changed. Call it for tools that may change
        something."""
        tool, step = call.tool, call.undo
        failed = result is None or bool(result["isError"])
        if not failed:
            content = None if result is None else result.get("structuredContent")
            words, objects = in_words(tool.name, tool.title, call.arguments, content)
            if step is not None and not step.ids and tool.work == "change" and not objects:
                return  # Everything was already as requested.
        elif step is not None and step.rolled_back is False:
            words, objects = f"{tool.title or tool.name} failed halfway and was not rolled back", ()
        else:
            return
        seconds = perf_counter() - call.started
        who = call.request.peer.client.name
        id = None if step is None else step.id
        started = round(time() - seconds, 3)
        self.add(
            SceneChange(
                call.id,
                tool.name,
                who,
                started,
                seconds * 1000,
                words,
                objects,
                id,
                failed,
                owner=call.request.peer.owner,
            )
        )

    def add(self, change: SceneChange) -> None:
        with self._lock:
            self._changes[change.call] = change
            if len(self._changes) > MOST:
                self._changes.popitem(last=False)
            self._all = None
        self.changed.tell()

    def back_to(self, call: str) -> list[str]:
        """Return the undo ids of that call's change and of all later ones that aren't undone,
        newest first. The list is empty when the change can't be undone."""
        changes = self.all()
        at = next((n for n, one in enumerate(changes) if one.call == call), None)
        if at is None or changes[at].undo_id is None or changes[at].undone:
            return []
        after = reversed(changes[at:])
        return [one.undo_id for one in after if one.undo_id is not None and not one.undone]

    def undone(self, undo_ids: Sequence[str], undone: bool = True, by: Owner | None = None) -> None:
        """Mark these steps as undone, or redone. ``by`` is the client that asked for this."""
        those = set(undo_ids)
        with self._lock:
            for call, one in self._changes.items():
                if one.undo_id in those:
                    self._changes[call] = one._replace(undone=undone, undone_by=by)
            self._all = None
        self.changed.tell()


def agents_turn(changes: Sequence[SceneChange]) -> tuple[SceneChange, ...]:
    """Return the agents' newest changes that can be undone together, oldest first: the changes
    since the artist's last known change, or since a pause."""
    turn: list[SceneChange] = []
    for one in reversed(changes):
        if one.undone or (one.undo_id is None and one.tool != _OPENS and not one.failed):
            continue  # The change has been undone, or it changed only files.
        began = turn[-1].started if turn else one.started
        paused = began - one.started - one.took_ms / 1000 > PAUSE
        if one.undo_id is None or one.owner is None or paused:
            break
        turn.append(one)
    return tuple(reversed(turn))


def in_words(
    tool: str, title: str | None, arguments: Mapping[str, Any], content: Any
) -> tuple[str, tuple[str, ...]]:
    """Return what a call did ("created /World/ball"), and the objects that exist because of it.
    ``content`` is its structured result, of any type."""
    content = content if isinstance(content, dict) else {}
    if tool == BATCH:
        return _batch_in_words(arguments, content)
    created, changed = _paths(content.get("created")), _paths(content.get("changed"))
    deleted = _paths(content.get("deleted"))
    did = _DID.get(tool)
    objects = created or changed or _paths(content.get("selection"))
    if tool == "scene__rename" and changed:
        return f"renamed {arguments.get('name')} to {changed[0]}", changed
    if tool == "script__execute":
        return "ran code of its own", objects
    if deleted:
        return f"deleted {_several(deleted)}", ()
    if objects:
        verb = did or ("created" if created else "changed")
        return f"{verb} {_several(objects)}", objects
    named = _paths([arguments.get("name")])
    path = content.get("path") if isinstance(content.get("path"), str) else ""
    if path and did:
        return f"{did} {path}", ()
    if named and did:
        return f"{did} {named[0]}", named
    called = title or tool
    return (f"{called}: {named[0]}", named) if named else (called, ())


def _batch_in_words(
    arguments: Mapping[str, Any], content: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]]:
    each = [
        in_words(asked["tool"], None, asked["arguments"], made.get("result"))
        for asked, made in zip(arguments["calls"], content.get("results", ()), strict=False)
    ]
    what = [words for words, objects in each if objects or " " in words]
    more = f" and {len(what) - 3} more" if len(what) > 3 else ""
    objects = tuple(dict.fromkeys(path for _, paths in each for path in paths))[:MOST_OBJECTS]
    return ("; ".join(what[:3]) or "ran several calls") + more, objects


def _paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(one for one in value[:MOST_OBJECTS] if isinstance(one, str) and one)


def _several(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:2])
    more = len(paths) - 2
    return f"{shown} and {more} more" if more > 0 else shown
