"""Turns calls that ended into records."""

from __future__ import annotations

import asyncio
from time import perf_counter, time
from typing import Any

from callboard.calls.call import Call
from callboard.content import Json
from callboard.errors import (
    CallboardError,
    CallCancelled,
    CallTimeout,
    CapabilityMissing,
    HostBusy,
    Paused,
    RefusedByArtist,
)
from callboard.protocol.peer import InputRequired, PeerRequest
from callboard.protocol.session import Session
from callboard.records.model import CallRecord, Outcome, session_hash
from callboard.records.schema import plain_middle
from callboard.records.store import Store

_OUTCOMES: tuple[tuple[type[BaseException], Outcome], ...] = (
    (CapabilityMissing, "refused"),
    (RefusedByArtist, "refused"),
    (CallTimeout, "timeout"),
    (HostBusy, "busy"),
    (Paused, "paused"),
    (CallCancelled, "cancelled"),
    (asyncio.CancelledError, "cancelled"),
)


#: Characters kept from the end of each output stream of a failed call.
PRINTED_LIMIT = 6_000


class Recorder:
    """Records calls, their clients and their outcomes. Runs on the server's loop. The answer to a
    call is sent after the call is recorded; from then on a killed process can't lose the record."""

    def __init__(self, host_kind: str, store: Store) -> None:
        self._host = host_kind
        self._store = store

    def call_ended(self, call: Call, result: Json | None, error: BaseException | None) -> None:
        """Record one run of a tool. A call that ended in a question to its client isn't over."""
        if isinstance(error, InputRequired) or call.tool.internal:
            return
        now = perf_counter()
        if (
            error is None
            and result is not None
            and not result["isError"]
            and call.intent is None
            and not self._store.results
            and "traceparent" not in call.request.meta
        ):
            # Most calls come here while their clients wait: see benchmarks/recording.py.
            name, recorded = call.tool.name, call.request.peer.recorded
            middle = recorded.get(name)
            if middle is None:
                middle = recorded[name] = self._middle(call)
            seconds = now - call.started
            undo = call.undo
            self._store.record_plain(
                call.id,
                time() - seconds,
                seconds,
                middle,
                call.queue_wait,
                call.main_seconds,
                None if undo is None else undo.id,
                call.arguments,
            )
            return
        outcome, code, message = _ending(result, error)
        missing = ()
        if isinstance(error, CapabilityMissing) and error.data is not None:
            missing = tuple(error.data["missing"])
        self._store.record(
            CallRecord(
                call_id=call.id,
                started=time() - (now - call.started),
                duration_ms=(now - call.started) * 1000,
                tool=call.tool.name,
                outcome=outcome,
                arguments=call.arguments,
                skill=call.tool.skill,
                host=self._host,
                error_code=code,
                error_message=message,
                queue_ms=call.queue_wait * 1000,
                main_thread_ms=call.main_seconds * 1000,
                undo_id=call.undo.id if call.undo is not None else None,
                intent=call.intent,
                trace=call.trace.get("traceparent"),
                missing=missing,
                result=None if result is None else _kept(result),
                **_who(call.request),
            )
        )

    def _middle(self, call: Call) -> str:
        who = [*_who(call.request).values(), self._host]
        return plain_middle((call.tool.name, call.tool.skill), who)

    def answered_here(
        self, id: str, request: PeerRequest, tool: str, arguments: Json, answer: str
    ) -> None:
        """Record a call that was answered without the host."""
        self._record_here(id, request, tool, arguments, "ok", result=answer)

    def refused_here(
        self, id: str, request: PeerRequest, tool: str, arguments: Json, error: CallboardError
    ) -> None:
        """Record a call of a tool that doesn't exist."""
        ending = {"error_code": error.code, "error_message": error.message}
        self._record_here(id, request, tool[:128], arguments, "error", **ending)

    def _record_here(
        self,
        id: str,
        request: PeerRequest,
        tool: str,
        arguments: Json,
        outcome: Outcome,
        **ending: Any,
    ) -> None:
        self._store.record(
            CallRecord(
                call_id=id,
                started=time(),
                duration_ms=0.0,
                tool=tool,
                outcome=outcome,
                arguments=arguments,
                host=self._host,
                **ending,
                **_who(request),
            )
        )


def _who(request: PeerRequest) -> dict[str, Any]:
    peer = request.peer
    in_session = isinstance(peer, Session)
    return {
        "client_name": peer.client.name,
        "client_version": peer.client.version,
        "era": "session" if peer.features.sessions else "stateless",
        "session": session_hash(peer.label) if in_session else None,
        "holder": peer.holder.id,
    }


def _kept(result: Json) -> Any:
    """Return the call's result, or, for a failed call, the facts that the tool's author needs."""
    if not result.get("isError"):
        return result.get("structuredContent")
    _, *rest = [part["text"] for part in result["content"] if part["type"] == "text"] or [""]
    meta = result.get("_meta", {})
    why = {"traceback": "\n".join(rest)}
    for stream in ("stdout", "stderr"):
        why[stream] = meta.get(f"callboard/{stream}", "")[-PRINTED_LIMIT:]
    return {key: text for key, text in why.items() if text} or None


def _ending(
    result: Json | None, error: BaseException | None
) -> tuple[Outcome, int | None, str | None]:
    if error is None:
        if result is not None and result.get("isError"):
            content = result.get("content") or [{}]
            return "error", None, str(content[0].get("text", ""))
        return "ok", None, None
    outcome: Outcome = next((o for kind, o in _OUTCOMES if isinstance(error, kind)), "error")
    if isinstance(error, CallboardError):
        return outcome, error.code, error.message
    return outcome, None, None
