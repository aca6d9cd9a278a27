"""A tool: a function that changes the scene, on the host's main thread, in one undo step."""

from __future__ import annotations

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def stack(ctx: ToolContext, count: int) -> str:
    """Make cubes, each on top of the one before."""
    editor = ctx.port("scene.mutate")
    for number in range(count):
        path = editor.create("cube", f"cube_{number}", {"size": 1.0})
        editor.set_transform(path, [0.0, float(number), 0.0], None, None)
    return f"{count} cubes stand on each other"


def add(server: Callboard) -> None:
    server.tools.register(
        "stack",
        stack,
        "Stacks cubes of one unit at the origin.",
        {
            "type": "object",
            "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 100}},
            "required": ["count"],
        },
        # The call is refused if the host lacks this capability or the artist has withdrawn it.
        required_capabilities=("scene.mutate",),
    )


if __name__ == "__main__":
    serve(add)
