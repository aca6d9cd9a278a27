"""A generator: long work on the main thread, done in slices so that the artist can keep working."""

from __future__ import annotations

from collections.abc import Generator

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def grid(ctx: ToolContext, size: int) -> Generator[None, None, dict[str, int]]:
    """Make a square of spheres. After each sphere, the host can do its own work. If the call is
    cancelled, everything is rolled back."""
    editor = ctx.port("scene.mutate")
    for x in range(size):
        for z in range(size):
            path = editor.create("sphere", None, {"radius": 0.4})
            editor.set_transform(path, [float(x), 0.0, float(z)], None, None)
            yield
        ctx.progress(x + 1, size)
    return {"created": size * size}


def add(server: Callboard) -> None:
    server.tools.register(
        "grid",
        grid,
        "Lays out a square of spheres.",
        {
            "type": "object",
            "properties": {"size": {"type": "integer", "minimum": 1, "maximum": 50}},
            "required": ["size"],
        },
        required_capabilities=("scene.mutate",),
    )


if __name__ == "__main__":
    serve(add)
