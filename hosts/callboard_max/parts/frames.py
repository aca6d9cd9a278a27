"""Converts frames, which 3ds Max stores as times."""

from __future__ import annotations

from typing import Any

from pymxs import runtime as rt


def frame_of(time: Any) -> float:
    return float(time.frame)


def current_frame() -> float:
    return frame_of(rt.sliderTime)


def frames_per_second() -> float:
    return float(rt.frameRate)
