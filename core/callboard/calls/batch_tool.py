"""Declares the tool that combines several calls into one. :mod:`callboard.calls.batch` runs the
tool, and is imported when the tool is first called."""

from __future__ import annotations

from callboard.calls.entry import Entry
from callboard.calls.tools import BATCH, Tool
from callboard.content import Json

#: Maximum number of calls in one batch.
MOST_CALLS = 100
_DESCRIPTION = (
    "Makes several calls as one: one question to the artist, one undo step, and when one fails all "
    "are rolled back. An argument of a later call may be an earlier result: "
    '{"$result": 0, "path": "object.path"} is that value of the first call\'s structured result. '
    "Not for jobs, skills__ tools, calls that ask the client, or batches."
)
_CALL: Json = {
    "type": "object",
    "required": ["tool"],
    "additionalProperties": False,
    "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
}
_SCHEMA: Json = {
    "type": "object",
    "required": ["calls"],
    "additionalProperties": False,
    "properties": {
        "calls": {"type": "array", "minItems": 1, "maxItems": MOST_CALLS, "items": _CALL},
        "brief": {
            "type": "boolean",
            "default": False,
            "description": "Report only changed, created, verified and doubt of each change",
        },
    },
}


class BatchTool(Tool):
    """The ``batch__run`` tool, as ``tools/list`` shows it."""


def batch_tool() -> BatchTool:
    """Return the batch tool. The dispatcher gathers its calls and runs them."""

    def never() -> Entry:
        raise AssertionError("a batch is gathered before it runs")

    return BatchTool(
        BATCH,
        _DESCRIPTION,
        _SCHEMA,
        never,
        title="Run several calls",
        ours=True,
        annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    )


def asked_tools(name: str, arguments: Json) -> list[str]:
    """Return the names of the tools that a call uses: the called tool and, for a batch, the tools
    of its calls. The arguments haven't been checked yet, so they may be wrong."""
    calls = arguments.get("calls") if name == BATCH else None
    named = (
        [one.get("tool") for one in calls[:MOST_CALLS] if isinstance(one, dict)]
        if isinstance(calls, list)
        else []
    )
    return [name, *dict.fromkeys(each for each in named if isinstance(each, str))]
