"""The one way to wait for what nobody is told of: asked again and again, up to a deadline.

Where there is an event, a future or a condition to wait for, that is better.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any, TypeVar

from callboard_testing.fake_host import DEADLINE

T = TypeVar("T")

#: Seconds between two looks: what is looked at may need this processor.
_PAUSE = 0.005


def until(
    condition: Callable[[], T],
    what: str | Callable[[], str],
    *,
    seconds: float = DEADLINE,
    pause: float = _PAUSE,
) -> T:
    """Waits until ``condition()`` is true, and returns what it gave.

    ``what`` names what is awaited, for the TimeoutError that comes after ``seconds``. As a
    function it is called then, to say how things stand.
    """
    end = monotonic() + seconds
    while not (outcome := condition()):
        if monotonic() >= end:
            awaited = what if isinstance(what, str) else what()
            raise TimeoutError(f"waited {seconds:g} s in vain for {awaited}")
        sleep(pause)
    return outcome


def job_ended(client: Any, job_id: str) -> dict[str, Any]:
    """What ``jobs__status`` tells of the job once it has ended. ``client`` is one with ``call``."""

    def ended_job() -> dict[str, Any] | None:
        job: dict[str, Any] = client.call("jobs__status", {"job_id": job_id})["structuredContent"]
        return None if job["status"] == "working" else job

    ended = until(ended_job, "the job's end")
    assert ended is not None
    return ended
