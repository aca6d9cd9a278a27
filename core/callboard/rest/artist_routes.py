"""The routes for the gateway's page: the parts of this server's state that the page shows, and some
of a panel's actions.

Only a client that proves that it speaks for the artist gets an answer (``clients/artist_key.py``).
A client's token alone isn't enough, and neither is the instance's own token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from callboard.calls.consent import Decision
from callboard.clients.artist_key import ARTIST_HEADER, is_artist
from callboard.content import Json
from callboard.errors import HostError
from callboard.panel.status import (
    OTHER_MACHINE,
    QuestionStatus,
    RootStatus,
    Snapshot,
    UndoAnswer,
)
from callboard.protocol.jsonrpc import encode
from callboard.rest.problems import NotFound, Unacceptable
from callboard.rest.routes import ReadRequest, RestAnswer, Route
from callboard.rest.schemas import ARTIST_ACT

if TYPE_CHECKING:  # This isn't imported at run time, because most hosts have no page.
    from callboard.panel.controls import Controls

EVENTS = "/v1/artist/events"
ACT = "/v1/artist/act"

#: Maximum number of changes shown. Only the newest are shown.
MOST_CHANGES = 50
#: Maximum number of bytes in a question's arguments. The page doesn't show longer ones, so it can
#: only refuse the question.
MOST_ARGUMENTS = 200_000
#: Seconds to wait for an undo.
UNDO_PATIENCE = 30.0


def artist_routes(controls: Callable[[], Controls], instance: str) -> tuple[Route, ...]:
    """Return the routes. ``controls`` are made for the first client that may use them; ``instance``
    is the server's id."""

    async def require(asked: ReadRequest) -> Controls:
        word = asked.incoming.headers.get(ARTIST_HEADER.lower(), "")
        if not word or not await asyncio.to_thread(is_artist, instance, word):
            raise Unacceptable(
                403,
                "only this user's own page may use this: open it with `callboard gateway --open`; "
                "an agent asks the artist in the application's panel",
            )
        return controls()

    async def events(asked: ReadRequest) -> RestAnswer:
        status, exchange = (await require(asked)).status, asked.incoming
        if exchange.method == "HEAD":
            return 200, {}
        stream = exchange.open_stream()

        def tell(snapshot: Snapshot) -> None:
            # A server that is shutting down may report its last snapshot from any thread, so that
            # snapshot isn't sent. The stream is about to end anyway.
            if snapshot.serving:
                stream.send(snapshot_as_json(snapshot))

        exchange.on_gone = status.watch(tell)
        tell(status.snapshot)
        return None

    async def act(asked: ReadRequest) -> RestAnswer:
        controls, body = await require(asked), asked.body
        return 200, await _ACTS[body["do"]](controls, body["id"])

    return (
        Route("GET", EVENTS, "The state that a panel shows", events, {200: "text/event-stream"}),
        Route("POST", ACT, "An action of a panel", act, {200: "Acted"}, body=ARTIST_ACT),
    )


async def _cancel(controls: Controls, call: str) -> Json:
    if all(one.id != call for one in controls.status.snapshot.calls):
        raise NotFound("that call has ended")
    controls.cancel(call)
    return {"done": True}


async def _answer(answer: Decision, controls: Controls, question: str) -> Json:
    asked = _question(controls, question)
    if answer not in asked.choices:
        raise Unacceptable(
            403, f"'{answer}' isn't among the answers to this question: {', '.join(asked.choices)}"
        )
    if answer != "refuse" and _arguments(asked) is None:
        raise Unacceptable(
            403, "this call is too long to be read here: answer it in the application's panel"
        )
    controls.answer(question, answer)
    return {"done": True}


def _question(controls: Controls, id: str) -> QuestionStatus:
    for question in _asked_here(controls.status.snapshot):
        if question.id == id:
            return question
    raise NotFound("that question has been answered, or has expired")


async def _undo(controls: Controls, call: str) -> Json:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[UndoAnswer] = loop.create_future()

    def settle(undone: UndoAnswer) -> None:
        if not answer.done():
            answer.set_result(undone)

    def answered(undone: UndoAnswer) -> None:
        loop.call_soon_threadsafe(settle, undone)

    controls.changes.undo_back(call, answered)
    try:
        undone = await asyncio.wait_for(answer, UNDO_PATIENCE)
    except asyncio.TimeoutError:
        raise HostError(
            "the application is busy; the undo runs once it is free, and the list of changes "
            "then shows it"
        ) from None
    return {"done": not undone.left, "undone": undone.undone, "problem": undone.problem}


#: Actions on the controls, each with the id of a call or a question.
_ACTS: dict[str, Callable[[Controls, str], Awaitable[Json]]] = {
    "cancel": _cancel,
    "undo": _undo,
    **{answer: partial(_answer, answer) for answer in get_args(Decision)},
}


def _asked_here(snapshot: Snapshot) -> list[QuestionStatus]:
    """Return the questions except those about other machines, which the gateway asks."""
    return [one for one in snapshot.questions if one.subject != OTHER_MACHINE]


def snapshot_as_json(snapshot: Snapshot) -> Json:
    """Return the part of the snapshot that the page shows."""
    return {
        "host": snapshot.host_name,
        "version": snapshot.host_version,
        "scene": snapshot.scene,
        "paused": snapshot.paused,
        "stalled_ms": snapshot.stalled_ms,
        "stalled_by": snapshot.stalled_by,
        "roots": list(map(_root, snapshot.roots)),
        "roots_policy": snapshot.roots_policy,
        "capabilities": [
            {"name": one.name, "offered": one.offered, "withdrawn": one.withdrawn}
            | {"unlocks": one.unlocks, "plug_in": one.plug_in, "advice": one.advice}
            for one in snapshot.capabilities
        ],
        "clients": [
            {"id": one.id, "name": one.name, "version": one.version, "holder": one.holder}
            | {"roots": list(map(_root, one.roots)), "problem": one.roots_problem}
            for one in snapshot.clients
        ],
        "calls": [
            {"id": one.id, "tool": one.tool, "client": one.client, "state": one.state}
            | {"started": one.started, "done": one.done, "total": one.total}
            | {"message": one.message, "held_by": one.held_by}
            for one in snapshot.calls
        ],
        "questions": [
            {"id": one.id, "tool": one.tool, "client": one.client, "holder": one.holder}
            | {"why": one.why, "deadline": one.deadline, "arguments": _arguments(one)}
            | {"subject": one.subject, "choices": list(one.choices)}
            for one in _asked_here(snapshot)
        ],
        "changes": [
            {"call": one.call, "tool": one.tool, "client": one.client, "started": one.started}
            | {"words": one.words, "undo": one.undo_id is not None, "undone": one.undone}
            | {"failed": one.failed}
            for one in snapshot.changes[-MOST_CHANGES:]
        ],
        "ended": snapshot.ended_calls,
    }


def _root(root: RootStatus) -> Json:
    about = {"name": root.name, "path": root.path, "uri": root.uri}
    return {**about, "source": root.source, "read_only": root.read_only}


def _arguments(question: QuestionStatus) -> Any:
    """Return the question's arguments, or None when they are too long."""
    try:
        return question.arguments if len(encode(question.arguments)) <= MOST_ARGUMENTS else None
    except ValueError:
        return None
