"""The route with which the user's command line ends the calls that hold up the application."""

from __future__ import annotations

import asyncio
from time import perf_counter

from callboard.calls.call import Call
from callboard.calls.dispatcher import Dispatcher
from callboard.content import Json
from callboard.guest.turn import Turn, TurnState
from callboard.rest.problems import require_local
from callboard.rest.routes import ReadRequest, RestAnswer, Route

PATH = "/v1/stop"
#: Seconds that stopped calls have to undo their changes.
PATIENCE = 5.0
_LOOK_AGAIN = 0.05


def stop_route(dispatcher: Dispatcher) -> Route:
    """Return the route. It is served even while the main thread is blocked."""

    async def stop(asked: ReadRequest) -> RestAnswer:
        require_local(asked.incoming.holder, "end calls", "stop")
        held, ended = dispatcher.release()
        until = perf_counter() + PATIENCE
        while not _settled(held, ended) and perf_counter() < until:
            await asyncio.sleep(_LOOK_AGAIN)
        answer: Json = {"ended": [_facts(call) for call in ended]}
        if held is not None and held.state is not TurnState.DONE:
            answer["holds"] = held.name
        return 200, answer

    return Route("POST", PATH, "End the running calls", stop, {200: "Stopped"})


def _settled(held: Turn | None, ended: list[Call]) -> bool:
    """Return whether the main thread is free and, for every stopped call, undoing its changes has
    either succeeded or failed."""
    return (held is None or held.state is TurnState.DONE) and all(
        call.undo is None or call.undo.rolled_back is not None for call in ended
    )


def _facts(call: Call) -> Json:
    facts: Json = {
        "call": call.id,
        "tool": call.tool.name,
        "client": call.request.peer.holder.name,
        "seconds": round(perf_counter() - call.started, 1),
    }
    if call.undo is not None and call.undo.rolled_back is not None:
        facts["rolled_back"] = call.undo.rolled_back
    return facts
