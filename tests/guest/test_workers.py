"""Worker threads, for work that may never end."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from callboard.guest.workers import MOST_ABANDONED, Workers
from callboard_testing.fake_host import DEADLINE
from waiting import until


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(2, "test-workers")
    yield made
    made.shutdown(cancel_futures=True)


def threads() -> int:
    return sum(thread.name == "test-workers" for thread in threading.enumerate())


def test_what_is_submitted_runs_and_its_error_is_raised(workers: Workers) -> None:
    assert workers.submit(pow, 2, 10).result(DEADLINE) == 1024
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 // 0).result(DEADLINE)
    with pytest.raises(SystemExit):
        workers.submit(sys.exit, 3).result(DEADLINE)
    assert workers.submit(pow, 2, 3).result(DEADLINE) == 8


def test_no_more_run_at_once_than_there_are_threads(
    workers: Workers, gate: threading.Event
) -> None:
    held = [workers.submit(gate.wait, DEADLINE) for _ in range(2)]
    waiting = workers.submit(pow, 2, 2)
    until(lambda: all(future.running() for future in held), "both workers to run")
    assert not waiting.running()
    until(lambda: workers.waited() > 0, "waiting work")
    gate.set()
    assert waiting.result(DEADLINE) == 4
    assert workers.waited() == 0
    assert threads() == 2


def test_another_takes_the_place_of_one_that_was_given_up(
    workers: Workers, gate: threading.Event
) -> None:
    for _ in range(20):
        hung = workers.submit(gate.wait, DEADLINE)
        until(hung.running, "the work to run")
        workers.abandon(hung)
    assert workers.submit(pow, 2, 2).result(DEADLINE) == 4
    gate.set()
    until(lambda: threads() == 2, "the threads that aren't needed to end")
    assert workers.submit(pow, 2, 3).result(DEADLINE) == 8


def test_what_was_given_up_before_it_began_never_runs(
    workers: Workers, gate: threading.Event
) -> None:
    held = [workers.submit(gate.wait, DEADLINE) for _ in range(2)]
    until(lambda: all(future.running() for future in held), "both workers to run")
    ran: list[int] = []
    waiting = workers.submit(ran.append, 1)
    workers.abandon(waiting)
    assert workers.waited() == 0
    gate.set()
    for future in held:
        future.result(DEADLINE)
    assert workers.submit(len, ran).result(DEADLINE) == 0
    assert waiting.cancelled()


def test_replacements_have_an_end(gate: threading.Event) -> None:
    workers = Workers(1, "test-workers")
    for _ in range(MOST_ABANDONED + 1):
        hung = workers.submit(gate.wait, DEADLINE)
        until(hung.running, "the work to run")
        workers.abandon(hung)
    waiting = workers.submit(pow, 2, 2)
    until(lambda: workers.waited() > 0, "waiting work")
    gate.set()
    assert waiting.result(DEADLINE) == 4
    workers.shutdown()


def test_after_a_shut_down_nothing_is_taken_and_what_waits_is_dropped(
    gate: threading.Event,
) -> None:
    workers = Workers(1, "test-workers")
    held = workers.submit(gate.wait, DEADLINE)
    until(held.running, "the work to run")
    waiting = workers.submit(pow, 2, 2)
    workers.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    with pytest.raises(RuntimeError):
        workers.submit(pow, 2, 2)
    gate.set()
    assert held.result(DEADLINE) is True
    until(lambda: threads() == 0, "the thread to end")


def test_a_process_ends_whatever_its_threads_do() -> None:
    program = (
        "import threading, asyncio; from callboard.guest.workers import Workers\n"
        "w = Workers(2, 'w'); f = w.submit(threading.Event().wait)\n"
        "while not f.running(): pass\n"
        "w.shutdown(); print('over')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    assert done.stdout == "over\n"
