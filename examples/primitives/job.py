"""A job: a call that is answered at once with a handle, and then continues in the background."""

from __future__ import annotations

from collections.abc import Generator

from callboard.app import Callboard
from callboard.calls.context import ToolContext
from serving import serve


def populate(ctx: ToolContext, count: int) -> Generator[None, None, dict[str, int]]:
    editor = ctx.port("scene.mutate")
    for number in range(count):
        path = editor.create("cone", f"tree_{number}", {"radius": 0.5, "height": 2.0})
        editor.set_transform(path, [number * 1.5, 0.0, 0.0], None, None)
        ctx.progress(number + 1, count)
        yield
    return {"planted": count}


def add(server: Callboard) -> None:
    server.tools.register(
        "populate",
        populate,
        "Plants a row of trees.",
        {
            "type": "object",
            "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 1000}},
            "required": ["count"],
        },
        required_capabilities=("scene.mutate",),
        # Clients with the tasks extension get a task; others get a job to check with jobs__status.
        execution="async",
    )


if __name__ == "__main__":
    serve(add)
