"""Reads and sets the current frame, and the frame rate, which Maya stores as a name."""

from __future__ import annotations

import re

from maya import cmds

_NAMED = {
    "game": 15.0,
    "film": 24.0,
    "pal": 25.0,
    "ntsc": 30.0,
    "show": 48.0,
    "palf": 50.0,
    "ntscf": 60.0,
    "millisec": 1000.0,
    "sec": 1.0,
    "min": 1 / 60,
    "hour": 1 / 3600,
}


def current_frame() -> float:
    # The published stubs don't include the query form of this command.
    frame: float = cmds.currentTime(query=True)  # type: ignore[call-arg]
    return frame


def frames_per_second() -> float:
    unit = str(cmds.currentUnit(query=True, time=True))
    if unit in _NAMED:
        return _NAMED[unit]
    number = re.match(r"\d+(\.\d+)?", unit)
    return float(number.group()) if number else 24.0
