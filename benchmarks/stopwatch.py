"""How long one piece of work takes, in milliseconds, with no garbage collected meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

from callboard.testing.direct import DirectCaller

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


def slices(call: DirectCaller, name: str, arguments: Mapping[str, Any]) -> tuple[float, float]:
    """How long a tool that works in slices takes, and the longest of them."""
    ends = [CLOCK[0]()]
    call(name, arguments, each_slice=lambda _: ends.append(CLOCK[0]()))
    ends.append(CLOCK[0]())
    return (ends[-1] - ends[0]) * 1000, max(b - a for a, b in pairwise(ends)) * 1000
