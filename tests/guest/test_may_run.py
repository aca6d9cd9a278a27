"""Calls that wait for the artist, and ways to end calls that don't end on their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest
from guest_rig import Guest, guest_in, guest_on

from callboard.errors import CallCancelled, HostBusy
from callboard.ground.unattended import UNATTENDED
from callboard.guest import main_thread
from callboard.guest import turn as turns
from callboard.guest.turn import Interrupted, Interruptible, Turn
from callboard.host import Work
from callboard_testing.fake_host import DEADLINE, FakeHost, HostThread


class _Dragged(FakeHost):
    """A host whose artist is dragging something, so that only reading may run."""

    doing: str | None = "dragging Cube"

    def may_run(self, work: Work) -> str | None:
        self.require_main_thread()
        return None if work == "read" else self.doing


@dataclass
class _Waiting:
    """A waiter, which receives the reason why its turn has to wait."""

    hold: Callable[[str | None], None]
    say_waiting: Callable[[str], None] = lambda doing: None


def _submit(guest: Guest, work: Any, kind: Work, reasons: list[str | None]) -> Future[Any]:
    outcome: Future[Any] = Future()

    def done(value: Any, error: BaseException | None) -> None:
        outcome.set_result(value) if error is None else outcome.set_exception(error)

    turn = Turn(str(kind), work, done, kind=kind, waiter=_Waiting(reasons.append))
    guest.on_loop(lambda: guest.main.submit(turn))
    return outcome


def test_turns_behind_one_that_opens_a_dialog_hear_of_it() -> None:
    with HostThread() as thread, guest_on(thread) as guest:
        guest.loop.on_away = guest.main.say_waiting
        heard: list[str] = []
        ended, dialog_closed = Event(), Event()

        def hear(doing: str) -> None:
            heard.append(doing)
            dialog_closed.set()

        def submit() -> None:
            opens = Turn("opens", lambda: dialog_closed.wait(DEADLINE), lambda *_: None)
            waiter = _Waiting(lambda doing: None, hear)
            waits = Turn("waits", lambda: None, lambda *_: ended.set(), waiter=waiter)
            guest.main.submit(opens)
            guest.main.submit(waits)

        with thread.host.busy("Choose a face"):
            guest.on_loop(submit)
            assert ended.wait(DEADLINE)
        assert heard == ["Choose a face"]


def test_the_call_that_keeps_the_host_busy_may_look_while_others_wait() -> None:
    """A render in the background holds up changes, but not the call that it belongs to."""
    host = _Dragged()
    host.doing = None
    with guest_in(host) as guest:
        over, closed = Event(), Event()

        def renders() -> Iterator[object]:
            host.doing = "rendering"
            try:
                while not over.is_set():
                    yield UNATTENDED
            finally:
                host.doing = None
                closed.set()

        told: list[str | None] = []
        own = _submit(guest, renders, "render", told)
        host.tick_until(lambda: host.doing is not None)
        change = _submit(guest, lambda: "changed", "change", reasons := [])
        host.tick_until(lambda: bool(reasons))
        assert not own.done()
        assert not change.done()
        over.set()
        host.tick_until(lambda: own.done() and change.done())
        assert (change.result(), told) == ("changed", [])
        over.clear()
        closed.clear()
        turn, ended = guest.job(renders, kind="render")
        host.tick_until(lambda: host.doing is not None)
        guest.on_loop(lambda: guest.main.cancel(turn))
        host.tick_until(ended.done)
        assert isinstance(ended.exception(), CallCancelled)
        assert closed.is_set(), "the cancelled call was not closed while the host was busy with it"


def test_a_change_waits_for_the_drag_to_end_while_reading_goes_on() -> None:
    host = _Dragged()
    with guest_in(host) as guest:
        ran: list[str] = []
        reasons: list[str | None] = []
        first = _submit(guest, lambda: ran.append("first"), "change", reasons)
        second = _submit(guest, lambda: ran.append("second"), "render", [])
        read = _submit(guest, lambda: ran.append("read"), "read", [])
        host.tick_until(read.done)
        assert ran == ["read"]
        assert reasons == ["dragging Cube"]
        host.doing = None
        host.tick_until(lambda: first.done() and second.done())
        assert ran == ["read", "first", "second"], "the queue's order must be kept"
        assert reasons == ["dragging Cube", None]


def test_who_waits_does_not_keep_the_host_awake() -> None:
    host = _Dragged()
    with guest_in(host) as guest, guest.connect() as client:
        held = _submit(guest, lambda: None, "change", reasons := [])
        host.tick_until(lambda: reasons)
        while host.wait_for_post(main_thread.ASK_AGAIN / 5):
            host.tick()
        assert not held.done()
        assert client is not None
        host.doing = None
        host.tick_until(held.done)


def test_a_host_that_cannot_say_is_busy_until_it_can_and_tells_the_log_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(FakeHost):
        asked = 0

        def may_run(self, work: Work) -> str | None:
            self.asked += 1
            if self.broken:
                raise RuntimeError("no window manager")
            return None

        broken = True

    host = Failing()
    with guest_in(host) as guest:
        reasons: list[str | None] = []
        refused = _submit(guest, lambda: None, "read", reasons)
        host.tick_until(lambda: host.asked > 2)
        guest.main._patience = 0.0
        host.tick_until(refused.done)
        with pytest.raises(HostBusy, match=r"could not name \(RuntimeError\)"):
            refused.result()
        guest.main._patience = main_thread.PATIENCE
        logged = [one for one in caplog.records if "could not report" in one.getMessage()]
        assert len(logged) == 1
        held = _submit(guest, lambda: "ran", "read", reasons)
        host.tick_until(lambda: len(reasons) > 1)
        host.broken = False
        host.tick_until(held.done)
        assert held.result() == "ran"


def test_patience_ends_with_what_the_artist_is_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    host = _Dragged()
    with guest_in(host, patience=0.2) as guest:
        held = _submit(guest, lambda: None, "change", [])
        host.tick_until(held.done)
        with pytest.raises(HostBusy, match="dragging Cube") as busy:
            held.result()
        assert busy.value.data is not None
        assert busy.value.data["blocked_by"] == "dragging Cube"


def test_a_started_generator_waits_between_its_slices() -> None:
    host = _Dragged()
    host.doing = None
    with guest_in(host) as guest:
        ran: list[int] = []

        def slices() -> Any:
            for number in range(3):
                ran.append(number)
                host.doing = "rendering" if number == 0 else None
                yield

        outcome = _submit(guest, slices, "render", reasons := [])
        host.tick_until(lambda: reasons)
        assert ran == [0]
        host.doing = None
        host.tick_until(outcome.done)
        assert ran == [0, 1, 2]


def test_a_cancelled_turn_that_waits_never_runs() -> None:
    host = _Dragged()
    with guest_in(host) as guest:
        turn, outcome = guest.job(lambda: None, kind="change")
        host.tick_until(lambda: turn.held_by)
        guest.on_loop(lambda: guest.main.cancel(turn))
        host.tick_until(outcome.done)
        with pytest.raises(CallCancelled):
            outcome.result()


@pytest.mark.parametrize("swallows", [False, True])
def test_a_loop_without_end_is_ended_and_the_host_lives(swallows: bool) -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        caught: list[BaseException] = []

        def forever() -> None:
            while True:
                try:
                    while True:
                        pass
                except BaseException as error:
                    caught.append(error)
                    if not swallows or len(caught) > 1:
                        raise

        def spin() -> None:
            guest.on_loop(lambda: guest.main.cancel(turn))
            forever()

        turn, outcome = guest.job(spin)
        host.tick_until(outcome.done)
        with pytest.raises(Interrupted):
            outcome.result()
        assert len(caught) == (2 if swallows else 1)
        _, after = guest.job(lambda: "alive")
        host.tick_until(after.done)
        assert after.result() == "alive"


def test_an_interruption_never_lands_after_the_code_it_was_for() -> None:
    code, over, usual = Interruptible(), Event(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def ask() -> None:
        while not over.is_set():
            code.ask()

    asking = Thread(target=ask)
    asking.start()
    landed = 0
    try:
        ends = monotonic() + DEADLINE
        for number in count():
            # Where the clock is coarse, threads take turns less often.
            if number >= 20_000 and (landed or monotonic() > ends):
                break
            try:
                code.run(lambda: sum(range(200)))
            except Interrupted:
                landed += 1
            # This is the test's own code. An exception that arrived here would end the test.
            sum(range(200))
    finally:
        sys.setswitchinterval(usual)
        over.set()
        asking.join()
    assert landed


class _StruckTwice(Interruptible):
    """An exception arrives twice in a row at the first instruction that follows the code."""

    times = 2

    def _end(self, *words: Any) -> None:
        if self.times:
            self.times -= 1
            raise Interrupted
        super()._end(*words)


def test_code_that_was_interrupted_twice_in_a_row_can_not_be_interrupted_later() -> None:
    code, outcomes = _StruckTwice(), list[bool]()
    with pytest.raises(Interrupted):
        code.run(lambda: None)
    asking = Thread(target=lambda: outcomes.append(code.ask()))
    asking.start()
    asking.join()
    assert outcomes == [False]


class _Struck:
    """A lock that raises another run's exception the first time it is taken."""

    fresh = True

    def __enter__(self) -> None:
        if self.fresh:
            self.fresh = False
            raise Interrupted

    def __exit__(self, *error: object) -> None: ...


def test_a_lock_that_an_exception_landed_on_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "_locks", [_Struck()])
    assert Interruptible().run(lambda: "done") == "done"
    assert turns._locks == []
