"""Small SVG charts, colored by the page's CSS variables so that they match the page's light and
dark themes."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from typing import Any

_WIDTH, _HEIGHT = 980, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 14, 8, 24
_WIDEST = 46.0


def bar(value: float, most: float, colour: str) -> str:
    """Return a horizontal bar that is filled to ``value`` out of ``most``."""
    share = max(1.5, 100 * value / most) if most > 0 and value > 0 else 0
    return (
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="6" rx="1" fill="var(--track)"/>'
        f'<rect width="{share:.1f}" height="6" rx="1" fill="var(--{colour})"/></svg>'
    )


def calls_per_day(days: Sequence[dict[str, Any]]) -> str:
    """Return stacked columns of succeeded, failed and refused calls, one column for each day.
    ``days`` comes from the report and isn't empty."""
    step, top = _scale(max(day["calls"] for day in days))
    plot = _HEIGHT - _TOP - _BOTTOM
    slot = (_WIDTH - _LEFT - _RIGHT) / len(days)
    width = min(slot * 0.72, _WIDEST)
    parts = []
    for n in range(round(top / step) + 1):
        y = _TOP + plot * (1 - n * step / top)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="var(--line)"/><text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_short(n * step)}</text>"
        )
    labelled = _labelled(len(days))
    for index, day in enumerate(days):
        middle = _LEFT + slot * (index + 0.5)
        parts.append(_column(day, middle - width / 2, width, plot, top))
        if index in labelled:
            date = dt.date.fromisoformat(day["date"])
            parts.append(
                f'<text x="{middle:.1f}" y="{_HEIGHT - 6}" text-anchor="middle">'
                f"{date.day} {date:%b}</text>"
            )
    total = sum(day["calls"] for day in days)
    return (
        f'<svg class="days" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{total} calls over {len(days)} days">{"".join(parts)}</svg>'
    )


def _column(day: dict[str, Any], left: float, width: float, plot: float, top: float) -> str:
    good = day["calls"] - day["errors"] - day["refused"]
    y = _TOP + plot
    rects = []
    for count, colour in ((good, "ok"), (day["errors"], "error"), (day["refused"], "refused")):
        height = plot * count / top
        y -= height
        if count:
            rects.append(
                f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                f'fill="var(--{colour})"/>'
            )
    title = f"{day['date']}: {good} succeeded, {day['errors']} failed, {day['refused']} refused"
    return f"<g><title>{title}</title>{''.join(rects)}</g>"


def _scale(most: int) -> tuple[int, int]:
    """Return the vertical axis as a round step and its end, the smallest multiple of the step that
    reaches ``most``. The axis has at most five steps."""
    step = 1
    for factor in itertools.cycle((2, 2.5, 2)):  # 1, 2, 5, 10, 20, 50 …
        if step * 5 >= most:
            break
        step = int(step * factor)
    return step, step * max(1, math.ceil(most / step))


def _labelled(count: int) -> set[int]:
    """Return the indexes of the days that get a date label: at most twelve, always including the
    last day."""
    every = math.ceil(count / 12)
    return set(range(count - 1, -1, -every))


def _short(number: int) -> str:
    return f"{number / 1000:g}k" if number >= 10_000 else str(number)
