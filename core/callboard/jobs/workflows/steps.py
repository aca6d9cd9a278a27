"""The request for one step of a workflow, and the changes made by the steps of a run, which can be
undone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from callboard.calls.call import Call
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.undo_history import alone, undo_newest
from callboard.calls.undo_step import UndoStep
from callboard.content import Json
from callboard.errors import CallTimeout
from callboard.protocol.peer import Ask, AskFailed, PeerRequest
from callboard.skills.workflows.workflow import ToolStep


class StepRequest(PeerRequest):
    """The request for one attempt at one step. Questions are sent to the client that runs the
    workflow. The changes that the attempt makes are noted."""

    def __init__(self, origin: PeerRequest, step: str, changes: RunChanges) -> None:
        # The progress token is only for the workflow. The rest of the client's ``_meta`` also
        # applies to its steps.
        meta = {key: value for key, value in origin.meta.items() if key != "progressToken"}
        super().__init__(origin.peer, origin.id, origin.method, {"_meta": meta})
        self.changes = changes
        self._origin = origin
        self._step = step

    def call_ended(self, call: Call, result: Json | None, error: BaseException | None) -> None:
        """Note the changes that a call in this attempt made. This is called for every call that
        ends during the attempt."""
        if call.request is self:
            self.changes.note(call)

    def notify(self, method: str, params: Json) -> None:
        self._origin.notify(method, params)

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        # Steps that run at the same time may use the same keys for their questions.
        answers = await self._origin.ask_all({f"{self._step} {k}": a for k, a in asks.items()})
        return {key: answers[f"{self._step} {key}"] for key in asks}


class RunChanges:
    """The undo steps of the calls in one run, in the order in which the calls ended. Use it on the
    server's loop.

    The undo ids in results don't suffice: a cancelled call has no result but may have changed the
    scene.
    """

    def __init__(self) -> None:
        self._made: list[tuple[PeerRequest, UndoStep]] = []

    def note(self, call: Call) -> None:
        if call.undo is not None:
            self._made.append((call.request, call.undo))

    def take(self, request: PeerRequest | None = None) -> list[UndoStep]:
        """Return and forget the undo steps of one attempt, or of all attempts."""
        taken = [undo for one, undo in self._made if request is None or one is request]
        if request is None:
            self._made.clear()
        else:
            self._made = [made for made in self._made if made[0] is not request]
        return taken


async def call_in_time(
    dispatcher: Dispatcher, request: StepRequest, step: ToolStep, arguments: Json
) -> Json:
    """Return the step's ``tools/call`` result. Raises CallTimeout, and the dispatcher's errors."""
    tool = dispatcher.tools.get(step.tool)
    # The call has its own task, because the dispatcher ends a late call by cancelling its task.
    task = asyncio.get_running_loop().create_task(dispatcher.call(request, tool, arguments))
    stop = dispatcher.ended.watch(request.call_ended)

    def over(_: object) -> None:
        stop()
        if not task.cancelled():
            task.exception()  # Without this, asyncio would log the error of a cancelled run.

    task.add_done_callback(over)
    try:
        await asyncio.wait({task}, timeout=step.timeout_secs)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    if task.cancelled():
        raise CallTimeout(f"{step.tool} did not finish within {step.timeout_secs:g} s")
    return task.result()


async def put_back(dispatcher: Dispatcher, changes: Sequence[UndoStep]) -> tuple[int, int]:
    """Undo the steps, newest first, on the main thread. Return how many were undone, and how many
    had to be left because of later changes to the scene."""
    port = dispatcher.host.undo
    if port is None or not changes:
        return 0, 0

    def undo_all() -> tuple[int, int]:
        # The ids are read here and not earlier: by now, a cancelled call has finished or been
        # rolled back.
        ids = [id for step in changes for id in step.ids]
        undone = undo_newest(port, ids[::-1])
        dispatcher.changed.undone(undone)
        return len(undone), len(ids) - len(undone)

    return await alone(dispatcher.main, "undo of a workflow", undo_all)
