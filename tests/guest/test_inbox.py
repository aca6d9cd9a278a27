from __future__ import annotations

import threading

import pytest

from callboard.guest.inbox import MainThreadInbox


def test_functions_run_in_order_on_the_thread_that_runs() -> None:
    inbox = MainThreadInbox()
    seen: list[tuple[int, int]] = []

    def post() -> None:
        for index in range(100):
            inbox.post(lambda index=index: seen.append((index, threading.get_ident())))  # type: ignore[misc]
        inbox.stop()

    poster = threading.Thread(target=post)
    poster.start()
    inbox.run()
    poster.join()
    assert seen == [(index, threading.get_ident()) for index in range(100)]


def test_a_function_that_raises_loses_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    inbox = MainThreadInbox()
    seen: list[int] = []
    inbox.post(lambda: seen.append(1 // 0))
    inbox.post(lambda: seen.append(2))
    inbox.stop()
    inbox.run()
    assert seen == [2]
    assert "ZeroDivisionError" in caplog.text


def test_ctrl_c_passes_and_running_may_go_on() -> None:
    inbox = MainThreadInbox()
    seen: list[int] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    inbox.post(interrupt)
    inbox.post(lambda: seen.append(1))
    inbox.stop()
    with pytest.raises(KeyboardInterrupt):
        inbox.run()
    assert seen == []
    inbox.run()
    assert seen == [1]
