"""Waits for something that sends no event, by polling until a deadline. If there is an event, a
future or a condition, use that instead.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any, TypeVar

from callboard_testing.fake_host import DEADLINE

T = TypeVar("T")

#: Seconds between two checks, because the observed code may need this processor.
_PAUSE = 0.005


def until(
    condition: Callable[[], T],
    what: str | Callable[[], str],
    *,
    seconds: float = DEADLINE,
    pause: float = _PAUSE,
) -> T:
    """Wait until ``condition()`` is true, and return its value.

    ``what`` describes the condition in the TimeoutError that is raised after ``seconds``. If it is
    a function, it is called at that time and returns the description.
    """
    end = monotonic() + seconds
    while not (outcome := condition()):
        if monotonic() >= end:
            awaited = what if isinstance(what, str) else what()
            raise TimeoutError(f"waited {seconds:g} s for {awaited} without success")
        sleep(pause)
    return outcome


def job_ended(client: Any, job_id: str) -> dict[str, Any]:
    """Wait until the job has ended, and return its ``jobs__status``. ``client`` has a method
    ``call``."""

    def ended_job() -> dict[str, Any] | None:
        job: dict[str, Any] = client.call("jobs__status", {"job_id": job_id})["structuredContent"]
        return None if job["status"] == "working" else job

    ended = until(ended_job, "the job's end")
    assert ended is not None
    return ended
