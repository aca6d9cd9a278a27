"""The scene's unit and its up axis."""

from __future__ import annotations

import re

import hou


def meters_per_unit() -> float:
    """Return the hip file's unit, for which Houdini's Python has no function."""
    size = re.search(r"\d+(\.\d*)?([eE][-+]?\d+)?", hou.hscript("unitlength")[0])
    return float(size.group()) if size and float(size.group()) > 0 else 1.0


def up_axis() -> str:
    if hou.isUIAvailable() and hou.ui.orientationUpAxis() == hou.orientUpAxis.Z:
        return "Z"
    return "Y"
