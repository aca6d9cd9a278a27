from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from time import monotonic

import pytest
from guest_rig import Guest, InThread, guest_in, guest_on, until_cancelled

from callboard.guest.loop import GuestLoop
from callboard.guest.turn import Turn
from callboard_testing.fake_host import DEADLINE, FakeHost, HostThread, WrongThread
from waiting import until


def watchers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "callboard-watcher"]


def test_the_fake_host_knows_its_main_thread() -> None:
    host = FakeHost()
    assert host.scene.names() == []
    with pytest.raises(WrongThread):
        InThread(host.scene.names).result()
    with pytest.raises(WrongThread):
        InThread(host.tick).result()


# -- ticks --------------------------------------------------------------------------------------


def test_nothing_is_served_before_the_host_ticks() -> None:
    host = FakeHost()
    with guest_in(host) as guest, guest.connect() as client:
        greeting = InThread(client.say)
        host.tick_until(greeting.done)
        assert greeting.result() == "hello"


def test_an_idle_guest_posts_nothing() -> None:
    host = FakeHost()
    with guest_in(host) as guest, guest.connect() as client:
        greeting = InThread(client.say)
        host.tick_until(greeting.done)
        while host.wait_for_post(0.2):
            host.tick()
        # One request causes one post, and then the loop rests again: a tick must not cause another.
        before = host.posts
        greeting = InThread(client.say)
        host.tick_until(greeting.done)
        while host.wait_for_post(0.2):
            host.tick()
        assert host.posts - before <= 3


def test_a_turn_that_holds_a_tick_of_the_main_threads_own_is_noticed() -> None:
    host, away = FakeHost(), threading.Event()
    outcome: Future[bool] = Future()

    def ended(value: bool, error: BaseException | None) -> None:
        outcome.set_result(value)

    with guest_in(host) as guest:
        guest.loop.on_away = away.set
        while host.wait_for_post(0.2):
            host.tick()
        job = Turn("job", lambda: away.wait(DEADLINE), ended, transaction=None, kind="read")
        guest.loop.complete(guest.main.submit, job)
        host.tick_until(outcome.done)
        assert outcome.result()


def test_timers_fire_while_nothing_else_happens() -> None:
    host = FakeHost()
    with guest_in(host) as guest:
        fired: list[str] = []

        def schedule() -> None:
            guest.loop.loop.call_later(0.03, fired.append, "later")
            guest.loop.loop.call_later(0.01, fired.append, "sooner")

        guest.on_loop(schedule)
        host.tick_until(lambda: len(fired) == 2)
        assert fired == ["sooner", "later"]


def test_a_tick_ends_although_there_is_always_more_to_do() -> None:
    host = FakeHost(budget=0.002)
    with guest_in(host) as guest:
        turns = 0
        going = True

        def again() -> None:
            nonlocal turns
            turns += 1
            if going:
                guest.loop.loop.call_soon(again)

        guest.on_loop(again)
        host.tick_until(lambda: turns > 0)  # A tick without a budget would never return.
        seen = turns
        assert host.wait_for_post()
        host.tick()
        assert turns > seen
        going = False


def test_a_tick_stops_taking_jobs_once_its_budget_is_spent() -> None:
    host = FakeHost(budget=0.001)
    with guest_in(host) as guest:
        ticks: list[int] = []

        def longer_than_the_budget() -> None:
            ticks.append(host.ran)
            end = monotonic() + 0.002
            while monotonic() < end:
                pass

        jobs = [guest.job(longer_than_the_budget)[1] for _ in range(4)]
        host.tick_until(lambda: all(job.done() for job in jobs))
        assert len(set(ticks)) == 4


def test_a_tick_that_served_a_call_waits_for_the_next_one() -> None:
    host = FakeHost(budget=DEADLINE, burst=DEADLINE)
    with guest_in(host) as guest:
        ticks: list[int] = []

        def two_calls() -> None:
            for _ in range(2):
                guest.job(lambda: ticks.append(host.ran))[1].result(DEADLINE)
            guest.loop.interrupt()

        calls = InThread(two_calls)
        host.tick_until(calls.done)
        calls.result()
        assert len(ticks) == 2
        assert ticks[0] == ticks[1]


def test_the_burst_window_does_not_hold_up_a_generator() -> None:
    # If each slice waited for the end of the window, this would take minutes.
    host = FakeHost(budget=60.0, burst=60.0)
    with guest_in(host) as guest:

        def slices() -> Iterator[None]:
            for _ in range(10):
                yield

        _, outcome = guest.job(slices)
        outcome.add_done_callback(lambda _: guest.loop.interrupt())
        host.tick_until(outcome.done)


# -- the stand-in -------------------------------------------------------------------------------


def asleep(entered: threading.Event, release: threading.Event) -> None:
    entered.set()
    release.wait(DEADLINE)


def in_a_call_that_releases_the_gil(entered: threading.Event, release: threading.Event) -> None:
    reader, writer = os.pipe()
    waker = threading.Thread(target=lambda: (release.wait(DEADLINE), os.write(writer, b"x")))
    waker.start()
    entered.set()
    os.read(reader, 1)
    waker.join()
    os.close(reader)
    os.close(writer)


def spinning(entered: threading.Event, release: threading.Event) -> None:
    entered.set()
    end = monotonic() + DEADLINE
    while not release.is_set() and monotonic() < end:
        pass


@pytest.mark.parametrize("block", [asleep, in_a_call_that_releases_the_gil, spinning])
def test_io_is_served_while_a_job_blocks_and_jobs_wait(
    block: Callable[[threading.Event, threading.Event], None],
) -> None:
    entered, release = threading.Event(), threading.Event()
    with HostThread() as thread, guest_on(thread) as guest, guest.connect() as client:
        order: list[str] = []

        def first() -> str:
            block(entered, release)
            order.append("first")
            return "first"

        def second() -> str:
            thread.host.require_main_thread()
            order.append("second")
            return "second"

        _, outcome = guest.job(first)
        assert entered.wait(DEADLINE)
        _, waiting = guest.job(second)
        for number in range(20):
            assert client.say(f"ping {number}") == f"ping {number}"
        assert not waiting.done()
        assert guest.loop.stalled_for() > 0.0
        release.set()
        assert (outcome.result(DEADLINE), waiting.result(DEADLINE)) == ("first", "second")
        assert order == ["first", "second"]
        assert client.say("after") == "after"


def test_io_is_served_while_the_host_itself_is_blocked() -> None:
    with HostThread() as thread, guest_on(thread) as guest, guest.connect() as client:
        assert client.say() == "hello"
        with thread.block("rendering"):
            for number in range(20):
                assert client.say(str(number)) == str(number)
            _, outcome = guest.job(lambda: "ran")
            assert client.say("still") == "still"
            assert not outcome.done()
        assert outcome.result(DEADLINE) == "ran"


def test_timers_fire_while_the_main_thread_is_blocked() -> None:
    with HostThread() as thread, guest_on(thread) as guest, thread.block():
        fired = threading.Event()
        guest.on_loop(lambda: guest.loop.loop.call_later(0.02, fired.set))
        assert fired.wait(DEADLINE)


def test_the_main_thread_takes_over_again_after_a_block() -> None:
    with HostThread() as thread, guest_on(thread) as guest:
        names: list[str] = []

        def note() -> None:
            names.append(threading.current_thread().name)

        for _ in range(3):
            with thread.block():
                guest.on_loop(note).result(DEADLINE)
            thread.call(lambda: None)
            # The stand-in may finish its current slice. Then it is the host's turn again.

            def taken_over() -> bool:
                guest.on_loop(note).result(DEADLINE)
                return names[-1] == "fake-host-main"

            until(taken_over, "the main thread's turn")
        assert names.count("callboard-watcher") >= 3


# -- nested and foreign loops -------------------------------------------------------------------


def test_jobs_never_nest_when_a_job_spins_the_hosts_loop() -> None:
    host = FakeHost()
    with guest_in(host) as guest, guest.connect() as client:
        order: list[str] = []

        def opens_a_dialog() -> None:
            order.append("dialog opens")
            _, inner = guest.job(lambda: order.append("second job"))
            greeting = InThread(client.say)
            # The loop ticks inside the tick, while the watcher is serving.
            host.tick_until(greeting.done)
            assert greeting.result() == "hello"
            assert not inner.done()
            order.append("dialog closes")
            inners.append(inner)

        inners: list[object] = []
        _, outer = guest.job(opens_a_dialog)
        host.tick_until(lambda: outer.done() and "second job" in order)
        outer.result()
        assert order == ["dialog opens", "dialog closes", "second job"]


def test_it_lives_inside_another_plugins_running_loop() -> None:
    host = FakeHost()
    entered, release = threading.Event(), threading.Event()

    def blocks() -> str:
        host.require_main_thread()
        entered.set()
        release.wait(DEADLINE)
        return "blocked"

    def slices() -> Iterator[None]:
        for _ in range(5):
            host.require_main_thread()
            yield
        return "sliced"  # type: ignore[return-value]

    def client_side(guest: Guest) -> list[object]:
        with guest.connect() as client:
            echoes = [client.say("one")]
            results = [guest.job(lambda: 1)[1].result(DEADLINE)]
            results.append(guest.job(slices)[1].result(DEADLINE))
            _, outcome = guest.job(blocks)
            assert entered.wait(DEADLINE)
            echoes.append(client.say("while blocked"))
            release.set()
            results.append(outcome.result(DEADLINE))
            return [*echoes, *results]

    async def application() -> list[object]:
        guest = Guest(host).start()
        try:
            work = InThread(lambda: client_side(guest))
            while not work.done():
                await asyncio.to_thread(host.wait_for_post, 0.05)
                host.tick()
            return list(work.result())
        finally:
            guest.close()

    outcome = asyncio.run(asyncio.wait_for(application(), DEADLINE))
    assert outcome == ["one", "while blocked", 1, "sliced", "blocked"]
    assert not watchers()


def test_it_survives_foreign_loops_that_come_and_go() -> None:
    host = FakeHost()
    with guest_in(host) as guest, guest.connect() as client:

        def work(text: str) -> tuple[InThread, Callable[[], bool]]:
            echo = InThread(lambda: client.say(text))
            _, job = guest.job(host.require_main_thread)
            return echo, lambda: echo.done() and job.done()

        async def foreign(text: str) -> None:
            echo, finished = work(text)
            while not finished():
                await asyncio.to_thread(host.wait_for_post, 0.05)
                host.tick()
            assert echo.result() == text

        for number in range(3):
            asyncio.run(asyncio.wait_for(foreign(f"in {number}"), DEADLINE))
            echo, finished = work(f"out {number}")
            host.tick_until(finished)
            assert echo.result() == f"out {number}"


# -- the end ------------------------------------------------------------------------------------


def test_close_before_start_and_twice() -> None:
    guest = GuestLoop(FakeHost())
    guest.close()
    guest.close()
    assert guest.loop.is_closed()


def test_close_leaves_no_thread_and_a_late_tick_does_nothing() -> None:
    host = FakeHost()
    guest = Guest(host).start()
    assert watchers()
    guest.close()
    assert not watchers()
    assert host.wait_for_post(0)
    host.tick()
    posts = host.posts
    guest.loop.request_tick()
    guest.loop.interrupt()
    assert host.posts == posts


@pytest.mark.parametrize("attempt", range(5))
def test_close_while_the_stand_in_serves(attempt: int) -> None:
    with HostThread() as thread:
        guest = thread.call(lambda: Guest(thread.host).start())
        with guest.connect() as client:

            def held_up_then_closed() -> None:
                assert InThread(client.say).result() == "hello"
                guest.close()

            thread.call(held_up_then_closed)
        assert not watchers()


def test_close_from_within_a_job() -> None:
    host = FakeHost()
    guest = Guest(host).start()
    _, outcome = guest.job(guest.close)
    host.tick_until(outcome.done)
    outcome.result()
    assert guest.loop.loop.is_closed()
    host.tick()
    assert not watchers()


def test_close_from_within_a_generator_job() -> None:
    host = FakeHost()
    guest = Guest(host).start()

    def slices() -> Iterator[None]:
        yield
        guest.close()
        yield

    _, outcome = guest.job(slices)
    host.tick_until(guest.loop.loop.is_closed)
    host.tick()
    assert outcome.done()


def test_close_cancels_what_is_still_scheduled() -> None:
    host = FakeHost()
    guest = Guest(host).start()
    ended: list[str] = []

    tasks: list[object] = []
    guest.on_loop(lambda: tasks.append(guest.loop.loop.create_task(until_cancelled(ended))))
    host.tick_until(lambda: tasks)
    host.tick_until(lambda: not host.wait_for_post(0.05))
    guest.close()
    assert ended == ["cancelled"]


def test_sockets_that_break_under_the_watcher_do_not_stop_it() -> None:
    with HostThread() as thread, guest_on(thread) as guest:
        for _ in range(10):
            with guest.connect() as client:
                client.say()
                client.socket.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
                )  # The client resets the connection instead of closing it.
        with guest.connect() as client:
            assert client.say("alive") == "alive"
            assert select.select([client.socket], [], [], 0)[0] == []
