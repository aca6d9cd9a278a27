"""The helper with which these tests poll."""

from __future__ import annotations

import pytest

from waiting import until


def test_it_gives_what_came() -> None:
    left = [0, 0, 7]
    assert until(lambda: left.pop(0), "seven") == 7


def test_what_never_comes_is_named() -> None:
    with pytest.raises(TimeoutError, match="for the bus without success"):
        until(lambda: False, "the bus", seconds=0.01)


def test_what_is_true_at_once_needs_no_time() -> None:
    assert until(lambda: "here", "nothing", seconds=0) == "here"


def test_how_things_stand_is_said_at_the_end() -> None:
    asked: list[int] = []

    def asking() -> bool:
        asked.append(1)
        return len(asked) == 0

    with pytest.raises(TimeoutError, match=r"asked \d+ times"):
        until(asking, lambda: f"the bus, asked {len(asked)} times", seconds=0.01)
