"""Converts colors as agents write them to the linear RGB that ports use."""

from __future__ import annotations

import re
from collections.abc import Sequence

from callboard.errors import WrongArgument

_HEX = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def linear(color: str | Sequence[float]) -> list[float]:
    """Return linear ``[r, g, b]``. Three numbers are linear already; ``#rrggbb`` and ``#rgb`` are
    sRGB, for a screen. Raises ValueError."""
    if not isinstance(color, str):
        return [float(value) for value in color]
    if not _HEX.fullmatch(color):
        raise WrongArgument(f"'{color}' is not a color; write [r, g, b], linear, or \"#rrggbb\"")
    digits = color.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    return [_decoded(int(digits[i : i + 2], 16) / 255) for i in (0, 2, 4)]


def _decoded(value: float) -> float:
    """Decode a value with the sRGB curve, IEC 61966-2-1."""
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)


def of_kelvin(kelvin: float) -> list[float]:
    """Return the color of a black body of 1,667 to 25,000 K, with its largest component 1. Uses Kim
    et al.'s approximation of the Planckian locus, and the primaries of Rec. 709."""
    t = max(1667.0, min(25000.0, kelvin))
    if t <= 4000:
        x = -0.2661239e9 / t**3 - 0.2343589e6 / t**2 + 0.8776956e3 / t + 0.179910
    else:
        x = -3.0258469e9 / t**3 + 2.1070379e6 / t**2 + 0.2226347e3 / t + 0.240390
    if t <= 2222:
        y = -1.1063814 * x**3 - 1.34811020 * x**2 + 2.18555832 * x - 0.20219683
    elif t <= 4000:
        y = -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
    else:
        y = 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    large_x, large_z = x / y, (1 - x - y) / y
    rgb = (
        3.2404542 * large_x - 1.5371385 - 0.4985314 * large_z,
        -0.9692660 * large_x + 1.8760108 + 0.0415560 * large_z,
        0.0556434 * large_x - 0.2040259 + 1.0572252 * large_z,
    )
    largest = max(rgb)
    return [max(0.0, value / largest) for value in rgb]
