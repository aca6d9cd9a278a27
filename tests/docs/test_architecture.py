"""docs/architecture.md and CONTRIBUTING.md name the real rooms, arrows and modules."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import docs_drawing
from docs_site import with_drawings
from test_imports import CORE, PROJECT, imported, layer_of, sources

#: The folders that contain the page's modules.
ROOTS = [
    PROJECT / root for root in ("core/callboard", "core/callboard_programs", "core", "hosts", "")
]
PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
#: The entry points of the public face and of ``python -m``. These aren't rooms.
DOORS = {"__init__", "__main__"}

Arrows = set[tuple[str, str]]


def outer_packages() -> dict[str, Path]:
    """Return the packages of hosts and ui, with the source root of each."""
    return {
        folder.name: PROJECT / root
        for root in ("hosts", "ui")
        for folder in (PROJECT / root).iterdir()
        if folder.name.startswith("callboard_") and any(folder.glob("*.py"))
    }


def room_of(path: Path) -> str:
    """Return the room of a file of core, under its name in the drawing. No two packages have rooms
    with the same name."""
    package, room = layer_of(path)
    return package if package == "callboard_testing" else room


ROOMS = {room_of(path) for path in CORE} - DOORS
OUTER = outer_packages()


def drawn() -> tuple[set[str], Arrows]:
    """Return every room and every arrow of the drawing."""
    (diagram,) = re.findall(r"```mermaid\nflowchart TD\n(.*?)```", PAGE, re.DOTALL)
    rooms: set[str] = set()
    arrows: Arrows = set()
    for line in map(str.strip, diagram.splitlines()):
        if line.startswith("subgraph ") or line in ("", "end"):
            continue
        sides = [set(side.split(" & ")) for side in line.split(" --> ")]
        rooms.update(*sides)
        for above, below in pairwise(sides):
            arrows |= {(one, other) for one in above for other in below}
    return rooms, arrows


def imports() -> Arrows:
    """Return all imports of one room by another in core, hosts and ui, as arrows."""
    files = [(path, PROJECT / "core", room_of(path)) for path in CORE]
    for package, root in OUTER.items():
        files += [(path, root, package) for path in sources(root / package)]
    arrows: Arrows = set()
    for path, root, room in files:
        for _, name in imported(path, root):
            first, *rest = name.split(".")
            used = rest[0] if first in ("callboard", "callboard_programs") and rest else first
            if used in ROOMS | OUTER.keys() and used != room and room not in DOORS:
                arrows.add((room, used))
    return arrows


def below(room: str, arrows: Arrows) -> set[str]:
    """Return every room that can be reached along the arrows."""
    seen: set[str] = set()
    to_do = [room]
    while to_do:
        here = to_do.pop()
        fresh = {other for one, other in arrows if one == here} - seen
        seen |= fresh
        to_do += fresh
    return seen


def test_every_room_is_drawn_and_no_other() -> None:
    rooms, _ = drawn()
    assert rooms == ROOMS | OUTER.keys()


def test_every_arrow_is_an_import() -> None:
    _, arrows = drawn()
    assert not arrows - imports()


def test_every_import_inside_core_follows_the_arrows() -> None:
    _, arrows = drawn()
    assert not {(a, b) for a, b in imports() if a in ROOMS and b not in below(a, arrows)}


def test_the_site_draws_the_same_rooms_and_arrows() -> None:
    page = with_drawings(PAGE)
    assert "mermaid" not in page
    (shown,) = re.findall(r"<svg.*</svg>", page)
    drawing = ElementTree.fromstring(shown)
    width, height = map(float, drawing.attrib["viewBox"].split()[2:])
    names = [text.text or "" for text in drawing.iter("text") if text.get("class") == "room"]
    boxes = [
        tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in drawing.iter("rect")
        if box.get("class") == "room"
    ]
    for (x, y, wide, high), (other_x, other_y, other_wide, _) in combinations(boxes, 2):
        apart = x + wide <= other_x or other_x + other_wide <= x
        assert apart or abs(y - other_y) >= high
    assert all(x >= 0 and x + w <= width and 0 <= y <= height - h for x, y, w, h in boxes)

    tops = {(round(x + w / 2), round(y)): n for n, (x, y, w, _) in zip(names, boxes, strict=True)}
    arrows: Arrows = set()
    for path in drawing.iter("path"):
        if path.get("class") == "arrow":
            start, end = points_of(path.attrib["d"])
            arrows.add((near(start, tops, docs_drawing.HEIGHT), near(end, tops, 0)))
    assert (set(names), arrows) == drawn()


def points_of(path: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the start and the end of a path."""
    numbers = [float(number) for number in re.findall(r"[\d.]+", path)]
    return (numbers[0], numbers[1]), (numbers[-2], numbers[-1])


def near(point: tuple[float, float], tops: dict[tuple[int, int], str], below: int) -> str:
    """Return the name of the box whose top edge is centered at the point, or ``below`` pixels above
    the point."""
    (name,) = (
        name
        for (x, y), name in tops.items()
        if abs(x - point[0]) <= 2 and abs(y + below - point[1]) <= 3
    )
    return name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a -.-> b", "can't be drawn: a -.-> b"),
        ("a --> b", "in no subgraph: a, b"),
        ("subgraph x\na\nend\nsubgraph y\nb --> a\nend", "don't point down: b --> a"),
        ("subgraph x\na --> b --> a\nend", "a cycle through a"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        docs_drawing.draw(text)


def test_every_module_named_is_there() -> None:
    names = set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE))
    gone = [n for n in names if not any((root / n).exists() for root in ROOTS)]
    assert names
    assert gone == []


def first_column(heading: str) -> list[str]:
    """Return the first column of the table under a heading of CONTRIBUTING.md, without its
    header."""
    section = CONTRIBUTING.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `?([^|`]+?)`? \|", section, re.MULTILINE)[1:]


def test_contributing_has_a_line_for_every_room() -> None:
    listed = [name for name in first_column("Where things are") if name.strip("-")]
    assert sorted(name.rstrip("/").removesuffix(".py") for name in listed) == sorted(ROOMS)


def test_a_word_stands_once_and_where_it_is_looked_for() -> None:
    words = [word for word in first_column("Words") if word.strip("-")]
    assert words == sorted(set(words), key=str.casefold)
    assert {"call", "host", "job", "peer", "session", "skill", "tool", "turn"} <= set(words)
