"""Fixtures of the official suite: calls that may become tasks (SEP-2663)."""

from __future__ import annotations

import asyncio
from typing import Any

from asking_tools import BOOLEAN, NAME_FORM, STRING, described, form

from callboard.calls import client_questions
from callboard.calls.context import AsyncToolContext
from callboard.calls.tools import ToolRegistry
from callboard.content import Text
from callboard.errors import PeerError

#: Outside JSON-RPC's reserved range.
OUR_OWN_CODE = -31900


def greet(name: str) -> Text:
    return Text(f"Hello, {name}!")


async def compute_slowly(seconds: float, label: str = "computed") -> Text:
    await asyncio.sleep(seconds)
    return Text(f"{label} after {seconds:g} s")


async def fail_slowly() -> None:
    await asyncio.sleep(1)
    raise RuntimeError("This job intentionally fails")


async def break_protocol() -> None:
    raise PeerError("This job intentionally ends in an error", code=OUR_OWN_CODE)


async def confirm_delete(filename: str, ctx: AsyncToolContext) -> Text:
    answer = await ctx.elicit(f"Delete {filename}?", form(confirm=BOOLEAN))
    return Text(f"{filename}: {described(answer)}")


async def ask_two(ctx: AsyncToolContext) -> Text:
    answers: dict[str, Any] = await ctx.ask_all(
        name=client_questions.elicitation("What is your name?", NAME_FORM),
        confirm=client_questions.elicitation("Are you sure?", form(confirm=BOOLEAN)),
    )
    return Text("; ".join(described(answer) for answer in answers.values()))


def add_task_tools(tools: ToolRegistry) -> None:
    """Register jobs. Clients without the extension get a job's id, and poll ``jobs__status``."""
    tools.register("greet", greet, "Greets at once.", form(name=STRING))
    seconds = {"type": "number", "minimum": 0}
    tools.register(
        "slow_compute",
        compute_slowly,
        "Takes as long as it is told.",
        {**form(seconds=seconds), "properties": {"seconds": seconds, "label": STRING}},
        execution="async",
    )
    tools.register("failing_job", fail_slowly, "Fails after a second.", execution="async")
    tools.register(
        "protocol_error_job", break_protocol, "Ends in a JSON-RPC error.", execution="async"
    )
    tools.register(
        "confirm_delete",
        confirm_delete,
        "Asks before it pretends to delete.",
        form(filename=STRING),
        execution="async",
    )
    tools.register("multi_input", ask_two, "Asks two things at once.", execution="async")
