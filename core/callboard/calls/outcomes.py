"""Makes results from what tools return or raise, on the thread where the tool ran.

A tool's objects are the tool's code: reading their items, text or traceback may raise SystemExit,
or never end. So they are read inside the containment, on the tool's own thread. Only plain data of
a bounded size comes out of it.

An exception ends the tool, but not the server or the host, and its client still gets an answer.
asyncio lets SystemExit and KeyboardInterrupt out of the loop, treats CancelledError as its own
cancellation, and refuses StopIteration in a future. When a tool raises one of these, it is an error
like any other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import Any, TypeVar, cast

from callboard.calls import results
from callboard.calls.client_questions import InputNeeded
from callboard.calls.invisible import hides, shown
from callboard.content import Block, Json, Resource, Result, Text
from callboard.errors import (
    CallboardError,
    CallCancelled,
    CallTimeout,
    HostBusy,
    HostError,
    Paused,
    PeerError,
)
from callboard.ground.full_disk import in_words, is_full
from callboard.protocol.jsonrpc import encode
from callboard.protocol.peer import AskFailed, InputRequired

#: Maximum number of bytes of JSON in a tool's answer.
RESULT_LIMIT = 32 * 2**20
#: Maximum number of characters that are certain to fit, because each takes at most four bytes.
_SURELY_FITS = RESULT_LIMIT // 4
#: Exceptions that pass unchanged: they ask the client, or are protocol errors.
_PASSING = (
    *(InputNeeded, InputRequired, AskFailed, PeerError),
    *(HostBusy, CallTimeout, Paused, CallCancelled),
)
#: Maximum number of values that are checked one by one. Larger results are copied as a whole.
_LOOKED_AT = 64
_SCALARS = frozenset({str, int, float, bool, type(None)})

Shape = Callable[[Any], Any]
T = TypeVar("T")


class ToolExited(CallboardError):
    """A tool raised SystemExit or a similar exception."""


class ToolRaised(Exception):
    """A tool raised an exception. ``result`` is the answer for its client."""

    def __init__(self, result: Json) -> None:
        super().__init__(result["content"][0]["text"])
        self.result = result


def made(value: Any) -> Json:
    """Return the result for a tool's return value, as plain data. Never raises."""
    try:
        if type(value) is dict and _is_plain(value) and (text := _plain_text(value)) is not None:
            # Nearly every answer takes this path.
            return _answer(text, value, value.get("success") is False)
        result = results.success(value)
        if type(value) is str or ("structuredContent" in result and not isinstance(value, Result)):
            return _of_data(result, value)
        return _copied(result)
    except ValueError as error:
        why = results.message_of(error)
        return results.failure(f"the tool returned something that isn't JSON: {why}")
    except BaseException as error:
        return results.failure(
            f"the tool returned something that can't be read ({results.name_of(error)}); return "
            f"dicts, lists, strings and numbers"
        )


def _of_data(result: Json, value: Any) -> Json:
    """Finish a result made of data. Its text is the data's JSON, or the value itself if that is a
    string."""
    (block,) = result["content"]
    text = block["text"]
    if type(text) is not str:
        return _copied(result)
    if len(text) > _SURELY_FITS and (size := len(text.encode("utf-8", "replace"))) > RESULT_LIMIT:
        return _too_large(size)
    served = structured = result["structuredContent"]
    if type(value) is not str:
        if not _is_plain(structured):
            plain = json.loads(text)
            structured = plain if served is value else {"result": plain}
        if hides(text) or (text.isascii() and "\\u" in text):
            structured = shown(structured)
            text = encode(structured if served is value else structured["result"]).decode("utf-8")
    elif hides(text):
        text, structured = shown(text), shown(structured)
    return _answer(text, structured, result["isError"])


def _plain_text(value: Any) -> str | None:
    """Return the JSON of small plain data that needs no further check, or None for anything
    else."""
    text = encode(value).decode("utf-8")
    if len(text) > _SURELY_FITS or hides(text) or (text.isascii() and "\\u" in text):
        return None
    return text


def _answer(text: str, structured: Any, failed: bool) -> Json:
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": failed,
    }


def _copied(result: Json) -> Json:
    """Copy a result made of blocks, or a whole result that a tool put together."""
    whole = encode(result)
    if len(whole) > RESULT_LIMIT:
        # Structured content nearly always appears a second time, as text.
        structured = len(encode(result.get("structuredContent")))
        if (size := max(len(whole) - structured, structured)) > RESULT_LIMIT:
            return _too_large(size)
    copy: Json = json.loads(whole)
    if b"\\u" in whole or (not whole.isascii() and hides(whole.decode("utf-8"))):
        return shown(copy)  # type: ignore[no-any-return]
    return copy


def _too_large(size: int) -> Json:
    return results.failure(
        f"the answer is {size / 1e6:.0f} MB, and at most {RESULT_LIMIT / 1e6:.0f} MB are sent. Ask "
        "for less: a page, a filter, a smaller picture; or have it written to a file"
    )


def read(value: Any) -> Any:
    """Return a prompt's or a resource's value as plain data, with invisible characters shown."""
    if isinstance(value, Resource) and isinstance(value.content, str):
        return replace(value, content=shown(str.__str__(value.content)))
    if isinstance(value, str):
        return shown(str.__str__(value))
    if isinstance(value, Text):
        return replace(value, text=shown(str.__str__(value.text)))
    if isinstance(value, (list, tuple)) and any(isinstance(item, Block) for item in value):
        return [read(item) for item in value]
    if isinstance(value, (dict, list)) and not _is_plain(value):
        return shown(json.loads(encode(value)))
    return value


def reported_error(error: BaseException) -> BaseException:
    """Return an exception of ``_PASSING`` itself, HostError for a full disk, and ToolRaised for any
    other exception that a tool raised."""
    try:
        if isinstance(error, _PASSING) and type(error).__module__.startswith("callboard."):
            return _plain_error(error)
        if is_full(error):
            return HostError(shown(in_words(cast(OSError, error))))
        if not isinstance(error, Exception) or isinstance(error, StopIteration):
            kind = results.name_of(error)
            text = results.message_of(error)
            error = ToolExited(f"the tool raised {kind}({text})").with_traceback(
                error.__traceback__
            )
        return ToolRaised(shown(results.raised(error)))
    except BaseException as worse:
        return ToolRaised(
            results.failure(
                f"{results.name_of(error)}: the tool's exception can't be shown, because "
                f"reading it raised {results.name_of(worse)}"
            )
        )


def finished(run: Callable[[], Any], shape: Shape) -> Any:
    """Run a tool's function and return ``shape`` of its value. For a generator, return a generator
    that ends with that result. Raises the error that :func:`reported_error` returns."""
    raised: BaseException
    try:
        value = run()
        if type(value) is not dict and isinstance(value, Generator):
            return _sliced(value, shape)
        return shape(value)
    except BaseException as error:
        raised = reported_error(error)
    raise raised


def _sliced(slices: Generator[Any, None, Any], shape: Shape) -> Generator[Any, None, Any]:
    raised: BaseException
    try:
        return shape((yield from slices))
    except GeneratorExit:
        raise
    except BaseException as error:
        raised = reported_error(error)
    raise raised


async def finished_later(run: Callable[[], Awaitable[Any]], shape: Shape) -> Any:
    """Like :func:`finished`, for a coroutine. A CancelledError may be our own, so it is raised
    unchanged."""
    raised: BaseException
    try:
        return shape(await run())
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        raised = reported_error(error)
    raise raised


def _plain_error(error: BaseException) -> BaseException:
    """Return our own exception with plain data in place of anything that a tool may have put into
    it."""
    if isinstance(error, CallboardError):
        error.message = shown(str.__str__(error.message))
        if error.data is not None and not _is_plain(error.data):
            error.data = json.loads(encode(error.data))
    return error


def _is_plain(value: Any) -> bool:
    """Return whether ``value`` is small and is known to consist of JSON's own types only."""
    waiting = [value]
    for _ in range(_LOOKED_AT):
        if not waiting:
            return True
        item = waiting.pop()
        kind = type(item)
        if kind is dict:
            for key in item:
                if type(key) is not str:
                    return False
            waiting.extend(item.values())
        elif kind is list:
            waiting.extend(item)
        elif kind not in _SCALARS:
            return False
    return False


def contained(error: BaseException) -> Exception | InputNeeded:
    """Return ``error``, or a substitute if a future or the loop can't carry it."""
    if isinstance(error, InputNeeded):
        return error
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return ToolExited(f"the tool raised {type(error).__name__}").with_traceback(error.__traceback__)


def run_contained(function: Callable[..., T], *args: Any) -> T:
    """Call ``function``. Raises only the error that :func:`contained` returns. Call it from any
    thread."""
    try:
        return function(*args)
    except BaseException as error:
        raise contained(error) from None


def settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    """Deliver an outcome. If the future is already done, the answer is late and is dropped."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(contained(error))
