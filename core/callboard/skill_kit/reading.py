"""Helpers for tools that read a whole scene or file. For bundled skills."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import TypeVar

from callboard.content import Json
from callboard.ports.scene import SceneReader

_Result = TypeVar("_Result")


def in_slices(
    steps: Generator[None, None, _Result], seconds: float = 0.005
) -> Generator[None, None, _Result]:
    """Run the steps of some work, and yield only at the end of each slice of the main thread. A
    slice is longer than ``seconds`` by at most one step. Return what the steps return."""
    slice_ends = perf_counter() + seconds
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: _Result = done.value
            return result
        if perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + seconds


def covered(reader: SceneReader, answer: Json) -> Json:
    """Return the answer with ``covers``, which says what part of the file it covers if the host
    reads only a part."""
    covers = getattr(reader, "covers", None)
    part = None if covers is None else covers()
    return answer if part is None else {**answer, "covers": part}
