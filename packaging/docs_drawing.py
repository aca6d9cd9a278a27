"""Draws the flowcharts in the docs as SVG, because the site doesn't load a script that could
draw them.

Code hosts draw a ``mermaid`` block themselves. This module reads only the parts of mermaid's
language that the docs use: names, ``subgraph`` and lines such as ``a & b --> c --> d``. A name is
drawn as a box, called a room. A subgraph is a band, and every arrow points down.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations, pairwise

BLOCK = re.compile(r"^```mermaid\nflowchart TD\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Sizes in pixels: the height of a row with its arrows, the height of a drawn room, the minimum gap
#: between neighbors in a row, the width of a letter, and the width of the bands' names on the left.
ROW, HEIGHT, GAP, LETTER, GUTTER = 54, 26, 14, 7.3, 94
TRIES = 40

#: A room, or the point at which an arrow passes a row: the arrow and the row.
Spot = str | tuple[str, str, int]


@dataclass(frozen=True)
class Chart:
    #: The rooms, each with its band.
    bands: Mapping[str, str]
    arrows: tuple[tuple[str, str], ...]


def read(text: str) -> Chart:
    """Return the chart that the text describes. Raises ValueError for a line that can't be drawn
    here."""
    bands: dict[str, str] = {}
    arrows: list[tuple[str, str]] = []
    band = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "end":
            band = ""
        elif line.startswith("subgraph "):
            band = line.removeprefix("subgraph ")
        elif re.fullmatch(r"\w+((?: & | --> )\w+)*", line):
            sides = [side.split(" & ") for side in line.split(" --> ")]
            for name in (name for side in sides if band for name in side):
                bands.setdefault(name, band)
            for above, below in pairwise(sides):
                arrows += [(one, other) for one in above for other in below]
        else:
            raise ValueError(f"this flowchart line can't be drawn: {line}")
    if homeless := {name for arrow in arrows for name in arrow} - bands.keys():
        raise ValueError(f"rooms in no subgraph: {', '.join(sorted(homeless))}")
    return Chart(bands, tuple(arrows))


def rows_of(chart: Chart) -> dict[str, int]:
    """Return the row of each room, counted from the top. A room is below all rooms that point to
    it, and in the same row as the other rooms of its band. Raises ValueError when an arrow would
    not point down."""
    least: dict[str, int] = {}
    begun: set[str] = set()

    def above_ground(room: str) -> int:
        if room not in least:
            if room in begun:
                raise ValueError(f"the arrows form a cycle through {room}")
            begun.add(room)
            inside = [
                below
                for above, below in chart.arrows
                if above == room and chart.bands[below] == chart.bands[room]
            ]
            least[room] = max((above_ground(below) + 1 for below in inside), default=0)
        return least[room]

    rows: dict[str, int] = {}
    start = 0
    for band in dict.fromkeys(chart.bands.values()):
        rooms = [room for room, its in chart.bands.items() if its == band]
        height = max(map(above_ground, rooms)) + 1
        rows |= {room: start + height - 1 - above_ground(room) for room in rooms}
        start += height
    if upwards := [f"{a} --> {b}" for a, b in chart.arrows if rows[a] >= rows[b]]:
        raise ValueError(f"arrows that don't point down: {', '.join(upwards)}")
    return rows


def way(arrow: tuple[str, str], rows: Mapping[str, int]) -> list[Spot]:
    """Return every spot that an arrow passes through, from one room to the other."""
    above, below = arrow
    return [above, *((above, below, row) for row in range(rows[above] + 1, rows[below])), below]


class Layout:
    """The position of every room and arrow. Of the orders tried, it uses the one with the fewest
    crossings, and its arrows are as straight as the space allows."""

    def __init__(self, chart: Chart) -> None:
        self.rows = rows_of(chart)
        self.ways = [way(arrow, self.rows) for arrow in chart.arrows]
        self.above: dict[Spot, list[Spot]] = {}
        self.below: dict[Spot, list[Spot]] = {}
        for spots in self.ways:
            for one, other in pairwise(spots):
                self.below.setdefault(one, []).append(other)
                self.above.setdefault(other, []).append(one)
        spots_of_rows: dict[int, list[Spot]] = {}
        for spot in dict.fromkeys([*chart.bands, *(spot for way in self.ways for spot in way)]):
            spots_of_rows.setdefault(self.row(spot), []).append(spot)
        self.order = min(self._orders(spots_of_rows), key=self.crossings)
        self.x = self._places()

    def row(self, spot: Spot) -> int:
        return self.rows[spot] if isinstance(spot, str) else spot[2]

    def _orders(self, spots: Mapping[int, Sequence[Spot]]) -> Iterator[list[list[Spot]]]:
        # Random, but with the same result each time.
        chance = random.Random(1)
        for _ in range(TRIES):
            order = [chance.sample(spots[row], len(spots[row])) for row in sorted(spots)]
            for turn in range(8):
                down = turn % 2 == 0
                rows = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
                for row in rows:
                    beside = order[row - 1 if down else row + 1]
                    place = {spot: float(at) for at, spot in enumerate(beside)}
                    near = self.above if down else self.below
                    order[row].sort(key=lambda s: mean([place[n] for n in near.get(s, ())], 0.0))
                yield [list(row) for row in order]

    def crossings(self, order: Sequence[Sequence[Spot]]) -> int:
        count = 0
        for above, below in pairwise(order):
            at = {spot: number for number, spot in enumerate(below)}
            lines = [
                (x, at[spot]) for x, one in enumerate(above) for spot in self.below.get(one, ())
            ]
            count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(lines, 2))
        return count

    def _places(self) -> dict[Spot, float]:
        x: dict[Spot, float] = {spot: 0.0 for row in self.order for spot in row}
        for _ in range(60):
            for row in [*self.order, *reversed(self.order)]:
                near = [[*self.above.get(spot, ()), *self.below.get(spot, ())] for spot in row]
                wanted = [
                    mean([x[n] for n in each], x[spot])
                    for spot, each in zip(row, near, strict=True)
                ]
                x.update(zip(row, apart(wanted, [width(spot) for spot in row]), strict=True))
        left = min(at - width(spot) / 2 for spot, at in x.items())
        return {spot: at - left for spot, at in x.items()}


def mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def width(spot: Spot) -> float:
    return LETTER * len(spot) + 18 if isinstance(spot, str) else 10.0


def apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Return the positions nearest to the wanted ones, in the same order, without any overlap."""
    shifts = [0.0]
    for one, other in pairwise(widths):
        shifts.append(shifts[-1] + (one + other) / 2 + GAP)
    # Runs of touching neighbors: the number of neighbors, and the mean of their wanted positions.
    runs: list[tuple[int, float]] = []
    for place, shift in zip(wanted, shifts, strict=True):
        count, middle = 1, place - shift
        while runs and runs[-1][1] > middle:
            more, other = runs.pop()
            middle = (count * middle + more * other) / (count + more)
            count += more
        runs.append((count, middle))
    middles = [middle for count, middle in runs for _ in range(count)]
    return [middle + shift for middle, shift in zip(middles, shifts, strict=True)]


def curve(points: Sequence[tuple[float, float]]) -> str:
    """Return a smooth line through the points, vertical at both ends."""
    first, last = points[0], points[-1]
    before = (points[1][0], 2 * first[1] - points[1][1])
    after = (points[-2][0], 2 * last[1] - points[-2][1])
    line = f"M{first[0]:.1f} {first[1]:.1f}"
    for (ax, ay), (bx, by), (cx, cy), (dx, dy) in zip(
        [before, *points[:-2]], points[:-1], points[1:], [*points[2:], after], strict=True
    ):
        line += (
            f" C{bx + (cx - ax) / 6:.1f} {by + (cy - ay) / 6:.1f}"
            f" {cx - (dx - bx) / 6:.1f} {cy - (dy - by) / 6:.1f} {cx:.1f} {cy:.1f}"
        )
    return line


def draw(text: str) -> str:
    """Return the drawing as SVG, without blank lines, because a blank line would end the SVG in a
    Markdown page. The page's stylesheet colors it."""
    chart = read(text)
    layout = Layout(chart)
    x = {spot: at + GUTTER for spot, at in layout.x.items()}

    def y(row: int) -> float:
        return (row + 0.5) * ROW

    wide = max(at + width(spot) / 2 for spot, at in x.items()) + GAP
    parts = []
    for band in dict.fromkeys(chart.bands.values()):
        rows = [layout.rows[room] for room, its in chart.bands.items() if its == band]
        top = min(rows) * ROW
        parts.append(
            f'<rect class="band" y="{top + 2}" width="{wide:.0f}" '
            f'height="{len(set(rows)) * ROW - 4}" rx="6"/>'
            f'<text class="band" x="8" y="{top + 20}">{escape(band)}</text>'
        )
    for (above, below), spots in zip(chart.arrows, layout.ways, strict=True):
        line = [(x[spot], y(layout.row(spot))) for spot in spots]
        line[0] = (x[above], y(layout.rows[above]) + HEIGHT / 2)
        line[-1] = (x[below], y(layout.rows[below]) - HEIGHT / 2 - 2)
        parts.append(
            f'<path class="arrow" d="{curve(line)}" marker-end="url(#tip)">'
            f"<title>{escape(above)} imports {escape(below)}</title></path>"
        )
    for room in chart.bands:
        middle, wide_of_room = y(layout.rows[room]), width(room)
        parts.append(
            f'<rect class="room" x="{x[room] - wide_of_room / 2:.1f}" y="{middle - HEIGHT / 2:.1f}"'
            f' width="{wide_of_room:.1f}" height="{HEIGHT}" rx="4"/>'
            f'<text class="room" x="{x[room]:.1f}" y="{middle + 4.5:.1f}">{escape(room)}</text>'
        )
    return (
        f'<svg viewBox="0 0 {wide:.0f} {len(layout.order) * ROW}" width="{wide:.0f}" role="img">'
        '<title>What imports what</title><defs><marker id="tip" viewBox="0 0 8 8" refX="7" '
        'refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )
