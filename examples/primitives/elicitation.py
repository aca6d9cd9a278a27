"""Elicitation: a tool asks the person before it does anything."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve

FORM = {
    "type": "object",
    "properties": {"sure": {"type": "boolean", "title": "Delete everything", "default": False}},
    "required": ["sure"],
}


def clear(ctx: ToolContext) -> str:
    # A question ends this run. Once the person has answered, the function runs again from its
    # start, so ask all questions before the first change.
    names = ctx.port("scene.read").names()
    answer = ctx.elicit(f"Delete all {len(names)} objects?", FORM)
    if not (answer.accepted and answer.content["sure"]):
        return "nothing was deleted"
    deleted = ctx.port("scene.mutate").delete(names) if names else []
    return f"{len(deleted)} objects are gone"


def add(server: Callboard) -> None:
    server.tools.register(
        "clear",
        clear,
        "Deletes every object, once the person has agreed.",
        required_capabilities=("scene.read", "scene.mutate"),
        annotations={"destructiveHint": True},
    )


if __name__ == "__main__":
    serve(add)
