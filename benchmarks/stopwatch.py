"""How long one piece of work takes, in milliseconds, with no garbage collected meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter

#: What measures; a list, so that an option changes it.
CLOCK = [perf_counter]


def timed(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    begun = CLOCK[0]()
    work()
    spent = CLOCK[0]() - begun
    gc.enable()
    return spent * 1000


def several(work: Callable[[int], object], rounds: int = 7) -> float:
    """The median of so many rounds; ``work`` is given the number of each."""
    return median(timed(lambda number=number: work(number)) for number in range(rounds))
