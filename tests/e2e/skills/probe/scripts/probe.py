"""The tools of the skill ``probe``."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

from callboard.content import Image

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
)
NAME_FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

waiting: set[asyncio.Event] = set()
cancelled = 0


def add(a: float, b: float) -> dict[str, float]:
    return {"sum": a + b}


def count(ctx: Any, to: int = 3) -> Iterator[None]:
    for step in range(1, to + 1):
        ctx.log("info", f"step {step}")
        ctx.progress(step, to, f"step {step}")
        yield
    return {"counted": to}


async def wait(ctx: Any) -> str:
    global cancelled
    over = asyncio.Event()
    waiting.add(over)
    ctx.progress(1, 2, "waiting")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancelled += 1
        raise
    finally:
        waiting.discard(over)
        over.set()
    return "never"


async def waits() -> dict[str, int]:
    for over in list(waiting):
        await over.wait()
    return {"cancelled": cancelled}


def picture() -> Image:
    return Image(DOT)


def introduce(ctx: Any) -> dict[str, Any]:
    answer = ctx.elicit("What is your name?", NAME_FORM)
    roots = ctx.roots
    return {
        "action": answer.action,
        "name": answer.content.get("name"),
        "roots": [] if roots is None else [str(root.path) for root in roots.roots],
    }


def think(ctx: Any) -> str:
    answer = ctx.sample("What is the capital of France?", 10)
    return str(answer["content"]["text"])


def route(region: str) -> dict[str, str]:
    return {"region": region}


def fail() -> None:
    raise ValueError("as asked")
