"""Measures the duration of one piece of work in milliseconds, with garbage collection off. This
module also contains the program that prints such times for scenes of several sizes."""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any

from callboard_testing.direct_calls import DirectCaller

#: The clock, in a list, so that an option can change it.
CLOCK = [perf_counter]
#: Which of several rounds counts, in a list, so that an option can change it.
ROUND: list[Callable[[list[float]], float]] = [median]

#: The work, its time, and the plain application's time, if there is one.
Row = tuple[str, float, float | None]


def timed(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    begun = CLOCK[0]()
    work()
    spent = CLOCK[0]() - begun
    gc.enable()
    return spent * 1000


def several(work: Callable[[int], object], rounds: int = 7) -> float:
    """Return the median time of the rounds. ``work`` is called with each round's number."""
    return ROUND[0]([timed(lambda number=number: work(number)) for number in range(rounds)])


def in_turns(
    ours: Callable[[int], object],
    theirs: Callable[[int], object],
    rounds: int,
    before_ours: Callable[[int], object] = lambda number: None,
    before_theirs: Callable[[int], object] = lambda number: None,
) -> tuple[float, float]:
    """Return the median times of two works that are measured in turns. Each of them, and what is
    done before it without being measured, is called with the round's number."""
    works: list[tuple[Callable[[int], object], Callable[[int], object], list[float]]] = [
        (ours, before_ours, []),
        (theirs, before_theirs, []),
    ]
    for number in range(rounds):
        for work, before, times in works:
            before(number)
            times.append(timed(lambda work=work, number=number: work(number)))
    (*_, first), (*_, second) = works
    return ROUND[0](first), ROUND[0](second)


def slices(call: DirectCaller, name: str, arguments: Mapping[str, Any]) -> tuple[float, float]:
    """Return the time of a tool that works in slices, and that of the longest slice."""
    ends = [CLOCK[0]()]
    call(name, arguments, each_slice=lambda _: ends.append(CLOCK[0]()))
    ends.append(CLOCK[0]())
    return (ends[-1] - ends[0]) * 1000, max(b - a for a, b in pairwise(ends)) * 1000


def program(
    about: str | None,
    unit: str,
    plainly: str,
    sizes: Sequence[int],
    measured: Callable[[int, Path], Iterable[Row]],
) -> int:
    """Print the rows of ``measured`` for scenes of each size, counted in ``unit``, next to the
    plain application's times. ``plainly`` is that application's name. ``measured`` is called with
    the size and an empty folder."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument(f"--{unit}", dest="sizes", type=int, nargs="+", default=sizes)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.add_argument("--cpu", action="store_true", help="measure the thread's own time")
    parser.add_argument("--best", action="store_true", help="print the best round, not the median")
    options = parser.parse_args()
    if options.best:
        ROUND[0] = min
    if options.cpu:
        CLOCK[0] = thread_time
    for size in options.sizes:
        with TemporaryDirectory(prefix="callboard-") as folder:
            for what, ours, plain in measured(size, Path(folder)):
                if options.json:
                    row = {unit: size, "what": what, "ms": ours, f"{plainly}_ms": plain}
                    print(json.dumps(row), flush=True)
                else:
                    beside = "" if plain is None else f"{plain:10.2f}  x{ours / plain:.1f}"
                    print(f"{size:8d}  {what:26s}{ours:10.2f}{beside}", flush=True)
    return 0
