"""Structured output: a result that programs read, checked against its schema before it is sent."""

from __future__ import annotations

from collections import Counter

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def census(ctx: ToolContext) -> dict[str, dict[str, int]]:
    """Return the number of objects of each type."""
    kinds = Counter(found["type"] for found in ctx.port("scene.read").summaries())
    return {"types": dict(kinds)}


def add(server: Callboard) -> None:
    server.tools.register(
        "census",
        census,
        "Counts the objects of the scene by type.",
        required_capabilities=("scene.read",),
        annotations={"readOnlyHint": True},
        output_schema={
            "type": "object",
            "properties": {
                "types": {"type": "object", "additionalProperties": {"type": "integer"}}
            },
            "required": ["types"],
        },
    )


if __name__ == "__main__":
    serve(add)
