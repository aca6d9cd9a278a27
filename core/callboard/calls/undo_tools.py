"""``scene__undo`` and ``scene__redo``: a client undoes its own last steps, and no one else's."""

from __future__ import annotations

from functools import partial
from typing import Any

from callboard.calls.context import AsyncToolContext, call_of
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.ports.capability_names import SCENE_MUTATE

#: The names of the two tools.
UNDO = "scene__undo"
REDO = "scene__redo"
#: Maximum number of steps in one call.
MOST_STEPS = 32
_SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "steps": {"type": "integer", "minimum": 1, "maximum": MOST_STEPS, "default": 1},
    },
}


def undo_tools(dispatcher: Dispatcher) -> list[Tool]:
    """Return the two tools, or none when the host has no undo. They run on the server's loop."""
    port, book = dispatcher.host.undo, dispatcher.changed
    if port is None:
        return []

    async def go(name: str, ctx: AsyncToolContext, steps: int) -> Json:
        from callboard.calls.undo_history import alone, redo_own, undo_own

        own = undo_own if name == UNDO else redo_own
        call = call_of(ctx)
        work = partial(own, port, book, call.request.peer.owner, steps)
        return await alone(dispatcher.main, name, work, call)

    async def undo(ctx: AsyncToolContext, steps: int = 1) -> Json:
        return await go(UNDO, ctx, steps)

    async def redo(ctx: AsyncToolContext, steps: int = 1) -> Json:
        return await go(REDO, ctx, steps)

    return [
        _tool(
            UNDO,
            "Undo",
            "Undoes your own newest calls that changed the scene, one step for each call, and "
            "says what they were. Refused when the artist or another client changed something "
            "since.",
            "undone",
            undo,
        ),
        _tool(
            REDO,
            "Redo",
            "Redoes what scene__undo undid, unless the scene was changed since.",
            "redone",
            redo,
        ),
    ]


def _tool(name: str, title: str, description: str, done: str, function: Any) -> Tool:
    entry = entry_of(function, name, name)
    text: Json = {"type": "string"}
    step: Json = {
        "type": "object",
        "required": ["undo_id", "tool", "did"],
        "properties": {"undo_id": text, "tool": text, "did": text},
    }
    return Tool(
        name=name,
        title=title,
        description=description,
        input_schema=_SCHEMA,
        output_schema={
            "type": "object",
            "required": [done, "stopped"],
            "properties": {
                done: {"type": "array", "items": step},
                "stopped": {"type": ["string", "null"], "description": "Why it stopped there"},
            },
        },
        load=lambda: entry,
        required_capabilities=(SCENE_MUTATE,),
        affinity="any",
        ours=True,
        ships=True,
        annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    )
