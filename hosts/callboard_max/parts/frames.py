"""Converts 3ds Max's times to frame numbers, and reads the current frame and the frame rate."""

from __future__ import annotations

from typing import Any

from pymxs import runtime as rt


def frame_of(time: Any) -> float:
    return float(time.frame)


def current_frame() -> float:
    return frame_of(rt.sliderTime)


def frames_per_second() -> float:
    return float(rt.frameRate)
