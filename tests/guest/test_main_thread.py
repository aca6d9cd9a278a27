from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from guest_rig import InThread, guest_in

from callboard.errors import CallCancelled, HostBusy
from callboard.guest.turn import PARK, Turn
from callboard_testing.fake_host import FakeHost


class Step:
    """A transaction that notes what happens to it, and checks that no other is open at the same
    time."""

    open: str | None = None

    def __init__(self, log: list[str], name: str) -> None:
        self._log = log
        self._name = name

    def enter(self) -> None:
        assert Step.open is None
        Step.open = self._name
        self._log.append(f"{self._name} begins")

    def leave(self) -> None:
        assert Step.open == self._name
        Step.open = None
        self._log.append(f"{self._name} commits")

    def end(self, error: BaseException | None) -> None:
        if error is not None:
            Step.open = None
            self._log.append(f"{self._name} rolls back: {type(error).__name__}")


@pytest.fixture
def log() -> Iterator[list[str]]:
    Step.open = None
    yield []
    assert Step.open is None


def test_jobs_run_in_the_order_they_came() -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        ran: list[int] = []
        jobs = [guest.job(lambda n=n: ran.append(n))[1] for n in range(10)]
        host.tick_until(lambda: all(job.done() for job in jobs))
        assert ran == list(range(10))


def test_a_full_queue_refuses_and_keeps_what_it_has() -> None:
    host = FakeHost()
    with guest_in(host, limit=4) as guest:  # One client may fill half of the queue.
        outcomes: list[Any] = []

        def submit_three() -> None:
            for number in range(3):
                job = Turn(f"job {number}", lambda: None, lambda *done: outcomes.append(done))
                guest.main.submit(job)

        refused = guest.on_loop(submit_three)
        host.tick_until(lambda: refused.done() and len(outcomes) == 2)
        with pytest.raises(HostBusy) as busy:
            refused.result()
        assert busy.value.data is not None
        assert busy.value.data["queued"] == 2
        assert outcomes == [(None, None)] * 2


def test_generators_take_turns_with_each_other_and_with_io() -> None:
    host = FakeHost()
    with guest_in(host) as guest, guest.connect() as client:
        turns: list[str] = []
        greetings: list[InThread] = []

        def slices(name: str) -> Iterator[None]:
            for _ in range(3):
                turns.append(name)
                yield
            while not greetings[0].done():  # The loop reads and writes between two slices.
                yield
            return name  # type: ignore[return-value]

        greetings.append(InThread(client.say))
        jobs = [guest.job(lambda n=n: slices(n))[1] for n in ("a", "b")]
        host.tick_until(lambda: all(job.done() for job in jobs))
        assert [job.result() for job in jobs] == ["a", "b"]
        assert greetings[0].result() == "hello"
        assert sorted(turns) == ["a"] * 3 + ["b"] * 3
        assert turns != ["a"] * 3 + ["b"] * 3


def test_steps_never_overlap_and_keep_their_order(log: list[str]) -> None:
    host = FakeHost()
    with guest_in(host) as guest:

        def slices(name: str) -> Iterator[None]:
            for _ in range(3):
                log.append(name)
                yield

        jobs = [guest.job(lambda n=n: slices(n), Step(log, n))[1] for n in ("one", "two")]
        jobs.append(guest.job(lambda: log.append("free"))[1])
        jobs.append(guest.job(lambda: log.append("three"), Step(log, "three"))[1])
        host.tick_until(lambda: all(job.done() for job in jobs))
        steps = [entry for entry in log if entry != "free"]
        assert steps == [
            entry
            for name, visits in (("one", 4), ("two", 4), ("three", 1))
            for visit in range(visits)
            # After its last slice a generator is visited once more.
            for entry in (f"{name} begins", *[name] * (visit < 3), f"{name} commits")
        ]
        assert log.index("free") < log.index("two begins")


def test_a_step_that_cannot_be_committed_is_the_jobs_error(log: list[str]) -> None:
    class Stuck(Step):
        def leave(self) -> None:
            super().leave()
            raise RuntimeError("the undo stack is stuck")

        def end(self, error: BaseException | None) -> None:
            super().end(error)
            raise RuntimeError("the undo stack is stuck")

    host = FakeHost()
    with guest_in(host) as guest:
        _, fine = guest.job(lambda: 1, Stuck(log, "fine"))
        _, broken = guest.job(lambda: 1 / 0, Stuck(log, "broken"))
        host.tick_until(lambda: fine.done() and broken.done())
        assert isinstance(fine.exception(), RuntimeError)
        assert isinstance(broken.exception(), ZeroDivisionError)


def test_a_cancelled_job_that_waits_never_begins_its_step(log: list[str]) -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        go_on = threading.Event()

        def slices() -> Iterator[None]:
            while not go_on.is_set():
                yield

        _, first = guest.job(slices, Step(log, "first"))
        second_job, second = guest.job(lambda: None, Step(log, "second"))
        host.tick_until(lambda: log)
        guest.on_loop(lambda: guest.main.cancel(second_job))
        host.tick_until(second.done)
        assert isinstance(second.exception(), CallCancelled)
        assert not first.done()
        go_on.set()
        host.tick_until(first.done)
        assert set(log) == {"first begins", "first commits"}


def test_a_parked_job_costs_nothing_until_it_is_woken(log: list[str]) -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        woken = False

        def parks() -> Iterator[object]:
            while not woken:
                yield PARK

        job, outcome = guest.job(parks, Step(log, "parked"))
        host.tick_until(lambda: job.parked)
        while host.wait_for_post(0.1):
            host.tick()
        woken = True
        guest.on_loop(lambda: guest.main.unpark(job))
        host.tick_until(outcome.done)
        assert log == ["parked begins", "parked commits"] * 2


def test_no_wake_up_of_a_parked_job_is_lost() -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        letters: list[int] = []
        taken: list[int] = []
        count = 2000

        def reads() -> Iterator[object]:
            while len(taken) < count:
                if letters:
                    taken.append(letters.pop(0))
                    yield None
                else:
                    yield PARK

        job, outcome = guest.job(reads)

        def writes() -> None:  # This runs on another thread, as the stand-in does.
            for number in range(count):
                letters.append(number)
                job.unpark()
                guest.loop.request_tick()

        writing = InThread(writes)
        host.tick_until(outcome.done)
        writing.result()
        assert taken == list(range(count))


def test_abandoning_ends_every_job_and_rolls_back(log: list[str]) -> None:
    host = FakeHost()
    with guest_in(host) as guest:

        def slices() -> Iterator[None]:
            try:
                while True:
                    yield
            finally:
                log.append("closed")

        _, running = guest.job(slices, Step(log, "running"))
        _, queued = guest.job(lambda: None, Step(log, "queued"))
        host.tick_until(lambda: log)
        guest.main.abandon()
        assert isinstance(running.exception(), CallCancelled)
        assert isinstance(queued.exception(), CallCancelled)
        assert log[-3:] == ["running begins", "closed", "running rolls back: CallCancelled"]
        assert len(guest.main) == 0
