"""Sampling: a tool asks the client's own model."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def christen(ctx: ToolContext, kind: str) -> str:
    """Have the model choose a name, and create an object with that name."""
    answer = ctx.sample(f"One word, lower case: a good name for a {kind}?", 10)
    name = answer["content"]["text"].strip()
    dimensions = {"cube": {"size": 2.0}, "sphere": {"radius": 1.0}}[kind]
    return str(ctx.port("scene.mutate").create(kind, name, dimensions))


def add(server: Callboard) -> None:
    server.tools.register(
        "christen",
        christen,
        "Creates an object that the client's model has named.",
        {
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": ["cube", "sphere"]}},
            "required": ["kind"],
        },
        required_capabilities=("scene.mutate",),
    )


if __name__ == "__main__":
    serve(add)
