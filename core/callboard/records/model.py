"""The record of one call."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

Outcome = Literal["ok", "error", "refused", "cancelled", "timeout", "busy", "paused", "unfinished"]
#: The outcome of a change whose end isn't recorded: it is still running, or its host was killed.
UNFINISHED: Outcome = "unfinished"


class CallPlace(NamedTuple):
    """The context of a call: the user and the workstation as the system names them, the application
    with its version, the file of its scene, and the project."""

    user: str | None = None
    machine: str | None = None
    app: str | None = None
    scene: str | None = None
    project: str | None = None


class CallRecord(NamedTuple):
    """One call, as it ended. A named tuple, because one is made before every answer, and a frozen
    dataclass takes three times as long.

    ``started`` is Unix time in seconds, durations are milliseconds. ``arguments``, ``result``,
    ``error_message`` and ``intent`` are unchanged here: the store redacts and bounds them before
    anything is written. ``session`` is a :func:`session_hash`, never the id itself, and None when
    the protocol has no sessions. ``client_name`` is the name that the client gives itself.
    ``holder`` is the id of the client whose token was used, and ``client`` is that client's name.
    ``missing`` are the capabilities that were missing when the call was refused. ``trace`` is the
    caller's W3C ``traceparent``. ``user`` and the fields after it are those of :class:`CallPlace`.
    The ``result`` of a failed call is ``{traceback?, stdout?, stderr?}``.
    """

    call_id: str
    started: float
    duration_ms: float
    tool: str
    outcome: Outcome
    arguments: Any = None
    skill: str | None = None
    client_name: str | None = None
    client_version: str | None = None
    era: str | None = None
    session: str | None = None
    holder: str | None = None
    host: str | None = None
    error_code: int | None = None
    error_message: str | None = None
    queue_ms: float | None = None
    main_thread_ms: float | None = None
    undo_id: str | None = None
    intent: str | None = None
    trace: str | None = None
    missing: tuple[str, ...] = ()
    result: Any = None
    client: str | None = None
    user: str | None = None
    machine: str | None = None
    app: str | None = None
    scene: str | None = None
    project: str | None = None

    @property
    def is_error(self) -> bool:
        """True when the client got an error."""
        return self.outcome != "ok"

    def as_trace(self) -> dict[str, Any]:
        """Return all known fields of the call."""
        return {key: value for key, value in self._asdict().items() if value not in (None, ())}

    def as_event(self) -> dict[str, Any]:
        """Return the record in the form that mcpeye's ingest accepts. ``timestamp`` is in
        milliseconds."""
        event: dict[str, Any] = {
            "callId": self.call_id,
            "toolName": self.tool,
            "arguments": self.arguments if isinstance(self.arguments, Mapping) else {},
            "isError": self.is_error,
            "timestamp": round(self.started * 1000),
            "durationMs": round(self.duration_ms, 3),
        }
        if self.is_error:
            event["errorMessage"] = self.error_message or self.outcome
        elif self.result is not None:
            event["result"] = self.result
        if self.intent:
            event["intent"] = self.intent
            event["intentSource"] = "mcpeye"
        return event


@lru_cache(maxsize=1024)
def session_hash(session_id: str) -> str:
    """Return 16 hex digits that identify a session but can't be used to join it."""
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]
