"""Makes a tool call from outside a host, waits until it ends, and reports all failures in the same
form."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from callboard.content import Json
from callboard.errors import (
    CALL_TIMEOUT,
    CAPABILITY_MISSING,
    HOST_BUSY,
    HOST_OFFLINE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PAUSED,
    REFUSED_BY_ARTIST,
    UNKNOWN_TOOL,
    CallboardError,
    HostError,
    PeerError,
)
from callboard.jobs.tools import LONGEST_WAIT, STATUS
from callboard.protocol.headers import TRACE, is_trace
from callboard_programs.client.http_client import RemoteError, pass_over

#: The types of content blocks that contain a file.
NOT_TEXT = ("image", "audio", "resource")

Notified = Callable[[str, Json], None]

#: The tool ran and failed, or its server failed.
FAILED = "failed"
#: The request is wrong, and would fail the same way again.
WRONG = "wrong"
#: No suitable host is running, or the host went away.
UNREACHABLE = "unreachable"
#: The call was refused by the artist, or because of the host's capabilities.
REFUSED = "refused"
#: The host is busy or paused, or time ran out. A later attempt may succeed.
BUSY = "busy"
#: The tool asked a question, and no one answered.
UNANSWERED = "unanswered"

_BY_CODE = {
    INVALID_PARAMS: WRONG,
    INVALID_REQUEST: WRONG,
    METHOD_NOT_FOUND: WRONG,
    HOST_OFFLINE: UNREACHABLE,
    CAPABILITY_MISSING: REFUSED,
    REFUSED_BY_ARTIST: REFUSED,
    HOST_BUSY: BUSY,
    PAUSED: BUSY,
    CALL_TIMEOUT: BUSY,
}


class NobodyAnswered(PeerError):
    """A tool asked a question, and there was no one to answer."""


class FailedCall(CallboardError):
    """A tool's result is an error. ``result`` is the whole result."""

    def __init__(self, result: Json) -> None:
        super().__init__("\n".join(part.get("text", "") for part in result.get("content", [])))
        self.result = result
        #: The JSON-RPC error code, if the arguments never reached the tool.
        self.code = result.get("_meta", {}).get("callboard/code", self.code)


class Requester(Protocol):
    """A client of a server in this process or another one."""

    def request(self, method: str, params: Json, on_notification: Notified = pass_over) -> Json: ...


def call_tool(
    client: Requester,
    tool: str,
    given: Json,
    notified: Notified = pass_over,
    *,
    wait: bool = True,
    trace: str | None = None,
) -> Json:
    """Call a tool, and return its result. If the tool answers with a job, return the job's result,
    or only its handle if ``wait`` is false. ``trace`` is the W3C ``traceparent`` of the call; by
    default, the one in the environment is used. Raises FailedCall, RemoteError or HostError."""
    result = _requested(client, tool, given, notified, trace or trace_here())
    job = result.get("structuredContent")
    if wait and isinstance(job, dict) and "job_id" in job and job.get("status") == "working":
        result = _ended(client, job, notified)
    if result.get("isError"):
        raise FailedCall(result)
    return result


def trace_here() -> str | None:
    """Return the trace context in the environment, where build tools and render managers put it, or
    None."""
    given = os.environ.get("TRACEPARENT", "")
    return given if is_trace(given) else None


def new_trace() -> str:
    """Return the context of a trace that begins here."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def content_of(result: Json) -> Any:
    """Return the part of a tool's result that is meant for programs."""
    return result.get("structuredContent", result.get("content"))


def not_text(blocks: Iterable[Any]) -> list[Json]:
    """Return the pictures, sounds and embedded files of a result's ``content``."""
    return [b for b in blocks if isinstance(b, dict) and b.get("type") in NOT_TEXT]


def beside(result: Json) -> list[Json]:
    """Return the pictures, sounds and files that ``content_of`` leaves out."""
    return not_text(result.get("content", ())) if "structuredContent" in result else []


def failure(error: CallboardError) -> Json:
    """Return ``{kind, message, code?, data?, call?}``. ``code`` is the JSON-RPC error code, and
    ``call`` is the call's id in the records."""
    reported: Json = {"kind": kind_of(error), "message": error.message}
    if isinstance(error, RemoteError):
        reported["code"] = error.code
    if error.data is not None:
        reported["data"] = error.data
    if isinstance(error, FailedCall):
        call = error.result.get("_meta", {}).get("callboard/call")
        return {**reported, "call": call} if call else reported
    return reported


def kind_of(error: CallboardError) -> str:
    """Return the failure's kind, one of the constants above."""
    if isinstance(error, NobodyAnswered):
        return UNANSWERED
    unknown = UNREACHABLE if isinstance(error, HostError) else FAILED
    return _BY_CODE.get(error.code, unknown)


def never_goes(error: CallboardError) -> bool:
    """Return whether the tool would fail this way with any arguments on this kind of host."""
    unknown = isinstance(error, RemoteError) and error.message.startswith(UNKNOWN_TOOL)
    return unknown or error.code == CAPABILITY_MISSING


def _requested(
    client: Requester, tool: str, given: Json, notified: Notified, trace: str | None = None
) -> Json:
    meta = {"progressToken": "call"} if trace is None else {"progressToken": "call", TRACE: trace}
    params = {"name": tool, "arguments": given, "_meta": meta}
    return client.request("tools/call", params, notified)


def _ended(client: Requester, job: Json, notified: Notified) -> Json:
    """Wait for a job, and return the result of its call. Raises RemoteError for a job that ended
    without a result."""
    asked = {"job_id": job["job_id"], "wait_s": LONGEST_WAIT, "whole": True}
    while job["status"] == "working":
        state = _requested(client, STATUS, asked, notified)
        if state.get("isError"):
            return state
        job = state["structuredContent"]
    if isinstance(ended := job.get("result"), dict):
        return ended
    error = job.get("error") or {}
    raise RemoteError(
        error.get("message") or f"the job was {job['status']}",
        code=error.get("code"),
        data=error.get("data"),
    )
