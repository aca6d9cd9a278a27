"""A coroutine: it waits on the server's loop without blocking anything, and runs only part of its
work on the main thread."""

from __future__ import annotations

import asyncio

from callboard.app import Callboard
from callboard.calls.context import AsyncToolContext
from serving import serve


async def survey(ctx: AsyncToolContext, program: str) -> dict[str, object]:
    """Ask another program for its version while the host stays responsive, then look at the
    scene."""
    process = await asyncio.create_subprocess_exec(
        program, "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    names = await ctx.on_main_thread(ctx.port("scene.read").names)
    return {"version": said.decode("utf-8", "replace").strip(), "objects": len(names)}


def add(server: Callboard) -> None:
    server.tools.register(
        "survey",
        survey,
        "Says a program's version and how many objects the scene has.",
        {"type": "object", "properties": {"program": {"type": "string"}}, "required": ["program"]},
        required_capabilities=("scene.read",),
        affinity="any",
    )


if __name__ == "__main__":
    serve(add)
