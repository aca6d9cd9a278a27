"""Moments when none of callboard's own threads is running Python."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic

import pytest
from guest_rig import Guest, InThread, guest_on

from callboard.guest.loop import STAND_IN
from callboard.guest.thread_pause import PausableEvent, PythonPermit, ThreadPause, breathe, go_on
from callboard.guest.turn import Interrupted, Interruptible
from callboard.guest.wake import wakeable
from callboard.guest.workers import Workers
from callboard_testing.fake_host import DEADLINE, HostThread
from waiting import until

#: Seconds in which anything that isn't held up happens many times.
LONG = 0.2


class Sitter:
    """A thread that waits for its bell again and again, and counts how often it ran Python in
    between."""

    def __init__(self, seconds: float | None) -> None:
        self.bell = PausableEvent()
        self.seat = PythonPermit()
        self.rounds = 0
        self.heard = 0
        self._seconds = seconds
        self._over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self.seat:
            while not self._over:
                if self.seat.wait(self.bell, self._seconds):
                    self.bell.clear()
                    self.heard += 1
                self.rounds += 1

    def more(self) -> None:
        """Wait until the thread has completed another round."""
        before = self.rounds
        until(lambda: self.rounds > before, "another round")

    def hears(self, times: int) -> None:
        """Wait until the thread has heard its bell that many times."""
        until(lambda: self.heard == times, "the bell to be heard")

    def where(self) -> list[tuple[str, int]]:
        """Return the current instruction of each of the thread's frames."""
        assert self._thread.ident is not None
        frame = sys._current_frames().get(self._thread.ident)
        instructions: list[tuple[str, int]] = []
        while frame is not None:
            instructions.append((frame.f_code.co_name, frame.f_lasti))
            frame = frame.f_back
        return instructions

    def end(self) -> None:
        self._over = True
        self.bell.set()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


@pytest.fixture
def sitter() -> Iterator[Callable[[float | None], Sitter]]:
    made: list[Sitter] = []

    def make(seconds: float | None) -> Sitter:
        made.append(Sitter(seconds))
        return made[-1]

    yield make
    go_on()
    for each in made:
        each.end()


@pytest.mark.parametrize("seconds", [0.0005, 30.0])
def test_whoever_waits_for_a_while_stands_still(
    sitter: Callable[[float | None], Sitter], seconds: float
) -> None:
    one = sitter(seconds)
    if seconds < 1:
        one.more()
    for _ in range(20):
        with ThreadPause():
            before = one.rounds
            assert not threading.Event().wait(0.01)
            assert one.rounds == before
    one.bell.set()
    until(lambda: one.heard == 1, "the bell to be heard")


def test_what_it_waited_for_is_heard_after_a_standstill(
    sitter: Callable[[float | None], Sitter],
) -> None:
    one = sitter(None)
    with ThreadPause():
        one.bell.set()
        assert not threading.Event().wait(LONG)
        assert one.heard == 0
    until(lambda: one.heard == 1, "the bell to be heard")


def test_what_is_on_its_way_to_a_thread_stands_still_too(
    sitter: Callable[[float | None], Sitter],
) -> None:
    one = sitter(None)
    for times in range(1, 20):
        one.bell.set()
        with ThreadPause():
            before = one.where()
            assert not threading.Event().wait(0.01)
            assert one.where() == before
        one.hears(times)


def test_no_work_begins_during_one() -> None:
    workers = Workers(2, "test-standstill")
    try:
        for first in (None, workers.submit(int)):
            if first is not None:
                first.result(DEADLINE)
            given = workers.submit(threading.get_ident)
            with ThreadPause():
                began = given.done()
                late = workers.submit(threading.get_ident)
                assert not threading.Event().wait(LONG)
                assert given.done() == began
                assert not late.done()
            assert given.result(DEADLINE)
            assert late.result(DEADLINE)
    finally:
        workers.shutdown()


def test_an_interruption_at_its_beginning_holds_nobody() -> None:
    def once() -> None:
        code, seat, bell = Interruptible(), PythonPermit(), PausableEvent()
        began = threading.Event()

        def sit() -> None:
            with seat:
                began.wait(DEADLINE)
                code.ask()
                seat.wait(bell, None)

        def work() -> None:
            began.set()
            while True:
                with ThreadPause():
                    pass

        thread = InThread(sit)
        with pytest.raises(Interrupted):
            code.run(work)
        go_on()
        bell.set()
        thread.result()

    for _ in range(20):
        once()


def test_what_is_run_to_its_end_during_one_has_its_threads() -> None:
    with HostThread() as thread, guest_on(thread) as guest:

        def work() -> int:
            with ThreadPause():
                return guest.loop.run(asyncio.to_thread(pow, 2, 3))

        assert thread.call(work) == 8


def test_one_within_another_ends_with_the_outer(
    sitter: Callable[[float | None], Sitter],
) -> None:
    one = sitter(0.0005)
    with ThreadPause():
        with ThreadPause():
            before = one.rounds
        assert not threading.Event().wait(LONG)
        assert one.rounds == before
    one.more()


@pytest.mark.parametrize("late", [False, True])
def test_whoever_computes_stands_still_when_it_gives_way(late: bool) -> None:
    permit, parts = PythonPermit(), [0]
    began, let_on, over = threading.Event(), threading.Event(), threading.Event()

    def compute() -> None:
        began.set()
        let_on.wait(DEADLINE)
        while not over.is_set():
            parts[0] += 1
            permit.give_way()

    thread = InThread(lambda: permit.run(compute))
    assert began.wait(DEADLINE)
    if not late:
        let_on.set()
    with ThreadPause():
        let_on.set()
        until(lambda: parts[0], "a part")
        before = parts[0]
        assert not threading.Event().wait(LONG)
        assert parts[0] == before
    until(lambda: parts[0] > before, "another part")
    over.set()
    thread.result()


@pytest.mark.parametrize("seconds", [None, 0.001])
def test_a_breath_lets_them_run_and_stops_them_again(
    sitter: Callable[[float | None], Sitter], seconds: float | None
) -> None:
    one = sitter(seconds)
    breathe(DEADLINE)  # No thread is paused.
    with ThreadPause():
        threading.Timer(0, one.bell.set).start()
        before = one.rounds
        until(lambda: breathe(0.01) or one.rounds > before, "a round")
        before = one.rounds
        one.bell.set()
        assert not threading.Event().wait(LONG)
        assert one.rounds == before
    one.more()


def test_a_breath_that_is_interrupted_ends_with_everybody_standing(
    sitter: Callable[[float | None], Sitter],
) -> None:
    one, code = sitter(0.001), Interruptible()
    threading.Timer(LONG, code.ask).start()
    with ThreadPause():
        with pytest.raises(Interrupted):
            code.run(lambda: [breathe(0.01) for _ in range(10_000)])
        before = one.rounds
        assert not threading.Event().wait(LONG)
        assert one.rounds == before
    one.more()


needs_an_alarm = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no alarm")


@pytest.fixture
def alarm_is_free() -> Iterator[None]:
    """Free the alarm, which pytest-timeout may have taken for this test."""
    handler, timer = signal.getsignal(signal.SIGALRM), signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, *timer)


@needs_an_alarm
def test_a_long_pause_lets_them_run_at_intervals(
    alarm_is_free: None, sitter: Callable[[float | None], Sitter]
) -> None:
    one, undo = sitter(0.001), wakeable()
    try:
        for _ in range(2):
            with ThreadPause():
                for _ in range(2):
                    one.more()
            assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    finally:
        undo()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@needs_an_alarm
def test_what_is_asked_in_such_a_moment_ends_the_code_and_the_pause(
    alarm_is_free: None, sitter: Callable[[float | None], Sitter]
) -> None:
    one, undo, code = sitter(0.001), wakeable(), Interruptible()

    def endless() -> None:
        with ThreadPause():
            one.more()
            threading.Timer(0, code.ask).start()
            while True:
                pass

    try:
        with pytest.raises(Interrupted):
            code.run(endless)
    finally:
        undo()
    one.more()


@needs_an_alarm
def test_the_alarm_of_a_pause_that_something_else_ended_falls_silent(
    alarm_is_free: None, sitter: Callable[[float | None], Sitter]
) -> None:
    one, undo = sitter(0.001), wakeable()
    try:
        ThreadPause().__enter__()
        go_on()
        until(lambda: signal.getitimer(signal.ITIMER_REAL) == (0, 0), "the alarm to fall silent")
        one.more()
    finally:
        undo()


@needs_an_alarm
def test_an_applications_own_alarm_is_left_alone(
    alarm_is_free: None, sitter: Callable[[float | None], Sitter]
) -> None:
    sounded: list[int] = []
    signal.signal(signal.SIGALRM, lambda number, _: sounded.append(number))
    one, undo = sitter(0.001), wakeable()
    try:
        with ThreadPause():
            signal.setitimer(signal.ITIMER_REAL, 2 * LONG)
            before = one.rounds
            until(lambda: sounded, "the application's alarm")
            assert one.rounds == before
    finally:
        undo()
    assert sounded == [signal.SIGALRM]


def test_a_thread_that_hangs_is_waited_for_once() -> None:
    workers = Workers(1, "test-standstill")
    gate = threading.Event()
    try:
        hanging = workers.submit(gate.wait, DEADLINE)
        until(hanging.running, "the thread to hang")
        began = monotonic()
        for _ in range(1000):
            with ThreadPause():
                pass
        assert monotonic() < began + DEADLINE
        gate.set()
        assert hanging.result(DEADLINE)
        after = workers.submit(pow, 2, 3)
        assert after.result(DEADLINE) == 8
    finally:
        gate.set()
        workers.shutdown()


def test_nobody_is_answered_during_one_and_everybody_after_it() -> None:
    standing, over = threading.Event(), threading.Event()

    def work() -> None:
        with ThreadPause():
            standing.set()
            over.wait(DEADLINE)

    with HostThread() as thread, guest_on(thread) as guest, guest.connect() as client:
        _, outcome = guest.job(work)
        assert standing.wait(DEADLINE)
        greeting = InThread(client.say)
        assert not threading.Event().wait(3 * STAND_IN)
        assert not greeting.done()
        over.set()
        assert greeting.result() == "hello"
        outcome.result(DEADLINE)


def test_a_turn_that_is_ended_in_one_leaves_nobody_standing() -> None:
    began = threading.Event()

    def work() -> None:
        began.set()
        while True:
            with ThreadPause():
                pass

    with HostThread() as thread, guest_on(thread) as guest, guest.connect() as client:
        for _ in range(100):
            began.clear()
            turn, outcome = guest.job(work)
            assert began.wait(DEADLINE)
            turn.interrupt()
            with pytest.raises(Interrupted):
                outcome.result(DEADLINE)
            assert client.say() == "hello"


def test_a_loop_that_is_closed_during_one_ends() -> None:
    with HostThread() as thread:
        guest = thread.call(lambda: Guest(thread.host).start())

        def close() -> None:
            with ThreadPause():
                guest.close()

        thread.call(close)
