"""What a tool raises ends the tool: not the server, not the host, and no answer is lost to it.

asyncio lets SystemExit and KeyboardInterrupt out of the loop, takes CancelledError for its own, and
refuses StopIteration in a future. From a tool they are errors like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from callboard.calls.asks import InputNeeded
from callboard.errors import CallboardError

T = TypeVar("T")


class ToolExited(CallboardError):
    """A tool raised SystemExit or its like."""


def contained(error: BaseException) -> Exception | InputNeeded:
    """``error``, or what stands for it where a future or the loop couldn't take it."""
    if isinstance(error, InputNeeded):
        return error
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return ToolExited(f"the tool raised {type(error).__name__}").with_traceback(error.__traceback__)


def run_contained(function: Callable[..., T], *args: Any) -> T:
    """Calls ``function``; raises nothing but what :func:`contained` gives. Any thread."""
    try:
        return function(*args)
    except BaseException as error:
        raise contained(error) from None


def settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    """Delivers an outcome, unless nobody waits any more: late answers are dropped."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(contained(error))
