"""The artist's actions on changes made by calls: undoing them, and selecting their objects in the
scene."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time
from typing import Any, TypeVar

from callboard.calls.change_history import SceneChange
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.undo_history import WithoutOpenSteps, undo_newest
from callboard.calls.undo_step import UndoStep
from callboard.errors import CallboardError, HostError
from callboard.guest.turn import Transaction, Turn
from callboard.panel.status import UndoAnswer
from callboard.ports.capability_names import SCENE_MUTATE, SCENE_READ
from callboard.ports.host import Host

log = logging.getLogger(__name__)
T = TypeVar("T")


class ChangeControls:
    """The actions on changes. Call them from any thread. Every method returns at once."""

    def __init__(
        self, host: Host, dispatcher: Dispatcher, do: Callable[[Callable[[], None]], None]
    ) -> None:
        """``do`` runs a function on the server's loop."""
        self._host = host
        self._main = dispatcher.main
        self._book = dispatcher.changed
        self._made_here = dispatcher.made_here
        self._do = do

    def made_here(self, call: str) -> bool:
        """Return whether this server ran a call in the records. Other servers write to the same
        records."""
        return self._made_here(call)

    def undo_back(
        self, call: str, answered: Callable[[UndoAnswer], None] = lambda answer: None
    ) -> None:
        """Undo a change and all later ones, newest first, and stop at a change by someone else.
        ``answered`` is called on the main thread or the server's."""
        port, book = self._host.undo, self._book

        def undo() -> UndoAnswer:
            ids = [] if port is None else book.back_to(call)
            done = [] if port is None else undo_newest(port, ids)
            book.undone(done)
            return UndoAnswer(len(done), len(ids) - len(done))

        self._in_scene(
            "undo", undo, WithoutOpenSteps(), answered, lambda why: UndoAnswer(0, 1, why)
        )

    def select(
        self, call: str, answered: Callable[[str | None], None] = lambda problem: None
    ) -> None:
        """Select a change's remaining objects in the scene. ``answered`` is called with the
        problem, or None, on the main thread or the server's."""
        book, host = self._book, self._host
        change = next((one for one in book.all() if one.call == call), None)
        step = None if host.undo is None else UndoStep(host.undo, "Callboard: select")

        def select() -> None:
            reader: Any = host.ports.get(SCENE_READ)
            editor: Any = host.ports.get(SCENE_MUTATE)
            if reader is None or editor is None or change is None:
                raise HostError("this application can't select objects now")
            there = [name for name in change.objects if _is_there(reader, name)]
            if not there:
                raise HostError("none of the changed objects is still in the scene")
            editor.select(there)

        def selected(problem: str | None) -> None:
            if step is not None and step.id is not None:
                # The selection lies above the changes on the application's undo stack.
                id, now = f"select-{step.id}", time()
                book.add(SceneChange(id, "", "", now, 0.0, "you selected objects", (), step.id))
            answered(problem)

        self._in_scene("select", select, step, selected, lambda why: why)

    def _in_scene(
        self,
        name: str,
        work: Callable[[], T],
        step: Transaction | None,
        answered: Callable[[T], None],
        failed: Callable[[str], T],
    ) -> None:
        """Do what the artist asks for as soon as no call is in the middle of a change."""

        def done(value: Any, error: BaseException | None) -> None:
            if error is not None and not isinstance(error, CallboardError):
                log.error("%s failed", name, exc_info=error)
            answered(value if error is None else failed(str(error) or type(error).__name__))

        turn = Turn(name, work, done, transaction=step, kind="change")

        def submit() -> None:
            try:
                self._main.submit(turn)
            except CallboardError as busy:
                answered(failed(busy.message))

        self._do(submit)


def _is_there(reader: Any, name: str) -> bool:
    try:
        reader.get(name)
    except LookupError:
        return False
    return True
