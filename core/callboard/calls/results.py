"""Makes ``tools/call`` results from what tools return or raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callboard.content import Json, Result, Text, blocks
from callboard.errors import CallboardError, SkillError
from callboard.protocol.jsonrpc import encode


def success(value: Any) -> Json:
    """Return the result for a tool's return value. Raises ValueError when it isn't JSON.

    Skills written for dcc-mcp report failure as a mapping with ``success: false``. Such a result
    becomes an error, so that no failure looks like success.
    """
    if value is None:
        return {"content": [{"type": "text", "text": "done"}], "isError": False}
    # Most values have one of these types, and are plain data.
    if not isinstance(value, (dict, str)):
        if isinstance(value, Result):
            return _whole(value)
        content = blocks(value)
        if content is not None:
            return {"content": content, "isError": False}
    structured = value if isinstance(value, dict) else {"result": value}
    text = value if isinstance(value, str) else encode(value).decode("utf-8")
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": structured.get("success") is False,
    }


def _whole(value: Result) -> Json:
    content = [(Text(item) if isinstance(item, str) else item).block() for item in value.content]
    result: Json = {"content": content, "isError": value.is_error}
    if value.structured is not None:
        result["structuredContent"] = value.structured
        if not content:
            text = encode(value.structured).decode("utf-8")
            result["content"] = [{"type": "text", "text": text}]
    if value.meta:
        result["_meta"] = dict(value.meta)
    return result


def failure(message: str, detail: str | None = None) -> Json:
    """Return an error that the agent can read and act on."""
    content = [{"type": "text", "text": message}]
    if detail:
        content.append({"type": "text", "text": detail})
    return {"content": content, "isError": True}


def raised(error: BaseException) -> Json:
    """Return the result for an exception that a tool raised.

    A CallboardError becomes its own message, with its type in ``_meta``. Any other exception
    becomes its type and message, with the skill's own frames. A SkillError caused by another
    exception also gets that exception's frames.
    """
    if isinstance(error, CallboardError):
        cause = error.__cause__
        frames = None
        if isinstance(error, SkillError) and cause and not isinstance(cause, CallboardError):
            frames = _own_frames(cause)
        result = failure(error.message, frames)
        add_meta(result, {"callboard/error": name_of(error)})
        return result
    reported = f"{name_of(error)}: {message_of(error)}{_what_there_is(error)}"
    return failure(reported, _own_frames(error))


def _what_there_is(error: BaseException) -> str:
    """Return a list of the existing attributes, as text, if the error is a missing attribute of one
    of our objects, such as a port."""
    if not isinstance(error, AttributeError):
        return ""
    try:
        if not type(error.obj).__module__.startswith("callboard"):
            return ""
        return f"; it has {', '.join(name for name in dir(error.obj) if name[0] != '_')}"
    except BaseException:
        return ""


def message_of(error: BaseException) -> str:
    """Return an exception's message, even if reading it raises."""
    try:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return str.__str__(str(text)) or "no message"
    except BaseException:
        return "its message can't be read"


def name_of(error: BaseException) -> str:
    """Return the name of an exception's class, even if reading it raises."""
    try:
        return str.__str__(type(error).__name__)
    except BaseException:
        return "an error"


def _own_frames(error: BaseException) -> str | None:
    """Return the exception's traceback, or None when it can't be read."""
    try:
        from callboard.calls.tracebacks import readable  # Most calls don't fail.

        return readable(error)
    except BaseException:
        return None


def add_printed(result: Json, printed: Mapping[str, str]) -> None:
    """Add what a tool printed on each stream to the end of the result's text."""
    for stream, text in printed.items():
        add_text(result, f"{stream}:\n{text}")


def add_text(result: Json, text: str) -> None:
    """Append a text block to the result."""
    result["content"].append({"type": "text", "text": text})


def add_meta(result: Json, entries: Mapping[str, Any]) -> None:
    """Add the entries that aren't None to the result's ``_meta``."""
    meta = {key: value for key, value in entries.items() if value is not None}
    if meta:
        result["_meta"] = {**result.get("_meta", {}), **meta}
