"""Colours as agents write them, and as every port wants them: linear RGB."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEX = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def linear(color: str | Sequence[float]) -> list[float]:
    """``[r, g, b]`` is linear already; ``#rrggbb`` and ``#rgb`` are for a screen, sRGB. Raises
    ValueError."""
    if not isinstance(color, str):
        return [float(value) for value in color]
    if not _HEX.fullmatch(color):
        raise ValueError(f"'{color}' is no colour; write [r, g, b], linear, or \"#rrggbb\"")
    digits = color.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return [_decoded(int(digits[i : i + 2], 16) / 255) for i in (0, 2, 4)]


def _decoded(value: float) -> float:
    """By the curve of sRGB, IEC 61966-2-1."""
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
