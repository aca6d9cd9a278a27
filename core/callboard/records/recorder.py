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
    NotRecorded,
    Paused,
    RefusedByArtist,
)
from callboard.protocol.peer import InputRequired, PeerRequest
from callboard.protocol.session import Session
from callboard.records.model import UNFINISHED, CallPlace, CallRecord, Outcome, session_hash
from callboard.records.schema import names, plain_middle
from callboard.records.store import Store

_OUTCOMES: tuple[tuple[type[BaseException], Outcome], ...] = (
    (CapabilityMissing, "refused"),
    (RefusedByArtist, "refused"),
    (CallTimeout, "timeout"),
    (HostBusy, "busy"),
    (Paused, "paused"),
    (NotRecorded, "refused"),
    (CallCancelled, "cancelled"),
    (InputRequired, "cancelled"),
    (asyncio.CancelledError, "cancelled"),
)


#: Characters kept from the end of each output stream of a failed call.
PRINTED_LIMIT = 6_000


class Recorder:
    """Records calls, their clients and their outcomes. Runs on the server's loop. A call is
    recorded before its answer is sent. From then on, the record survives even if the process is
    killed.

    If ``required`` is true, a call that can't be recorded is refused. A change is then recorded
    twice: before it begins, as unfinished, and when it has ended.
    """

    def __init__(self, host_kind: str, store: Store, *, required: bool = False) -> None:
        self._host = host_kind
        self._store = store
        self._required = required
        self.move_to(CallPlace())

    def move_to(self, place: CallPlace) -> None:
        """Record later calls with this context. Call it from any thread."""
        redact = self._store.redactor.line
        place = place._replace(scene=redact(place.scene), project=redact(place.project))
        self._place = place, names(*place)

    @property
    def trouble(self) -> str | None:
        """A sentence for clients when calls aren't recorded on disk, or None."""
        why = self._store.degraded
        return None if why is None else f"calls aren't recorded on disk: {why}"

    def call_begins(self, call: Call) -> None:
        """If records are required, record a change before it begins. Raises NotRecorded."""
        if not self._required or call.tool.internal:
            return
        if call.tool.reads_only:
            kept = self._store.can_keep()
        else:
            kept = self._store.can_keep() and self._store.record(
                self._record(call, perf_counter(), UNFINISHED, None, None)
            )
            call.noted = True
        if not kept:
            raise self._refusal(f"{call.tool.name} wasn't run")

    def call_ended(self, call: Call, result: Json | None, error: BaseException | None) -> None:
        """Record one run of a tool. A call that ended in a question to its client isn't over. If
        records are required and this one can't be kept, the call gets an error in place of its
        answer."""
        if call.tool.internal or (isinstance(error, InputRequired) and not call.noted):
            return
        if not self._keep(call, result, error) and self._required and error is None:
            ran = "changed what it should" if call.noted else "ran"
            call.unrecorded = self._refusal(f"{call.tool.name} {ran}, but its answer is withheld")

    def _refusal(self, what: str) -> NotRecorded:
        return NotRecorded(
            f"{what}, because this site requires a record of every call, and "
            f"{self._store.trouble or 'this one could not be kept'}. Ask the artist to make room "
            "there or to call the administrator; `callboard doctor` says what is wrong"
        )

    def _keep(self, call: Call, result: Json | None, error: BaseException | None) -> bool:
        now = perf_counter()
        if (
            error is None
            and result is not None
            and not result["isError"]
            and call.intent is None
            and not self._store.results
            and "traceparent" not in call.request.meta
        ):
            # Most calls get here while their clients are waiting: see benchmarks/recording.py.
            name, recorded = call.tool.name, call.request.peer.recorded
            middle = recorded.get(name)
            if middle is None:
                middle = recorded[name] = self._middle(call)
            seconds = now - call.started
            undo = call.undo
            return self._store.record_plain(
                call.id,
                time() - seconds,
                seconds,
                middle,
                call.queue_wait,
                call.main_seconds,
                None if undo is None else undo.id,
                self._place[1],
                call.arguments,
            )
        outcome, code, message = _ending(result, error)
        missing = ()
        if isinstance(error, CapabilityMissing) and error.data is not None:
            missing = tuple(error.data["missing"])
        record = self._record(call, now, outcome, code, message)
        kept = None if result is None else _kept(result)
        return self._store.record(record._replace(missing=missing, result=kept))

    def _record(
        self, call: Call, now: float, outcome: Outcome, code: int | None, message: str | None
    ) -> CallRecord:
        return CallRecord(
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
            **_who(call.request),
            **self._place[0]._asdict(),
        )

    def _middle(self, call: Call) -> str:
        who = [*_who(call.request).values(), self._host]
        return plain_middle((call.tool.name, call.tool.skill), who)

    def answered_here(
        self, id: str, request: PeerRequest, tool: str, arguments: Json, answer: str
    ) -> None:
        """Record a call that was answered without the host. Raises NotRecorded if records are
        required."""
        self._record_here(id, request, tool, arguments, "ok", result=answer)

    def refused_here(
        self, id: str, request: PeerRequest, tool: str, arguments: Json, error: CallboardError
    ) -> None:
        """Record a call to a tool that doesn't exist. Raises NotRecorded if records are
        required."""
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
        kept = self._store.record(
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
                **self._place[0]._asdict(),
            )
        )
        if self._required and not kept:
            raise self._refusal(f"{tool} wasn't run")


def _who(request: PeerRequest) -> dict[str, Any]:
    peer = request.peer
    in_session = isinstance(peer, Session)
    return {
        "client_name": peer.client.name,
        "client_version": peer.client.version,
        "era": "session" if peer.features.sessions else "stateless",
        "session": session_hash(peer.label) if in_session else None,
        "holder": peer.holder.id,
        "client": peer.holder.name,
    }


def _kept(result: Json) -> Any:
    """Return the call's result, or, for a failed call, the details that the tool's author needs."""
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
