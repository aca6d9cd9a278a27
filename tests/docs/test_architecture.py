"""docs/architecture.md and CONTRIBUTING.md name the rooms, arrows and modules that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from test_imports import CORE, PROJECT, imported, layer_of, sources

CORE_ROOT = PROJECT / "core" / "callboard"
PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
#: How the face and ``python -m`` are started; no rooms.
DOORS = {"__init__", "__main__"}

Arrows = set[tuple[str, str]]


def outer_packages() -> dict[str, Path]:
    """The packages of hosts and ui, with the source root of each."""
    return {
        folder.name: PROJECT / root
        for root in ("hosts", "ui")
        for folder in (PROJECT / root).iterdir()
        if folder.name.startswith("callboard_") and any(folder.glob("*.py"))
    }


ROOMS = {layer_of(path) for path in CORE} - DOORS
OUTER = outer_packages()


def drawn() -> tuple[set[str], Arrows]:
    """Every room and every arrow of the drawing."""
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
    """Which room imports which, in all of core, hosts and ui."""
    files = [(path, PROJECT / "core", layer_of(path)) for path in CORE]
    for package, root in OUTER.items():
        files += [(path, root, package) for path in sources(root / package)]
    arrows: Arrows = set()
    for path, root, room in files:
        for _, name in imported(path, root):
            first, *rest = name.split(".")
            used = rest[0] if first == "callboard" and rest else first
            if used in ROOMS | OUTER.keys() and used != room and room not in DOORS:
                arrows.add((room, used))
    return arrows


def below(room: str, arrows: Arrows) -> set[str]:
    """Every room that a way along the arrows leads to."""
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


def modules_named(text: str) -> Iterator[str]:
    yield from re.findall(r"`([\w/]+(?:\.py|/))`", text)


@pytest.mark.parametrize("name", sorted(set(modules_named(PAGE))))
def test_every_module_named_is_there(name: str) -> None:
    assert any((root / name).exists() for root in (CORE_ROOT, PROJECT)), name


def first_column(heading: str) -> list[str]:
    """Of the table under a heading of CONTRIBUTING.md, without its head."""
    section = CONTRIBUTING.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `?([^|`]+?)`? \|", section, re.MULTILINE)[1:]


def test_contributing_has_a_line_for_every_room() -> None:
    listed = [name for name in first_column("Where things are") if name.strip("-")]
    assert sorted(name.rstrip("/").removesuffix(".py") for name in listed) == sorted(ROOMS)


def test_a_word_stands_once_and_where_it_is_looked_for() -> None:
    words = [word for word in first_column("Words") if word.strip("-")]
    assert words == sorted(set(words))
    assert {"call", "host", "job", "peer", "session", "skill", "tool", "turn"} <= set(words)
