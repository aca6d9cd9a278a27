"""How Houdini's shapes differ from other hosts', on the double or, under hython, on Houdini
itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from houdini_rig import hou, houdini_host, new_houdini

from callboard.errors import HostError
from callboard_testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_houdini(windows=False)
    with houdini_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def shape(bench: Bench, tool: str, name: str, **asked: Any) -> Any:
    return bench.call(f"geometry__{tool}", {"name": name, **asked})["shape"]


def chain(path: str) -> list[str]:
    """Return the types of the nodes that make what the object shows, first to last."""
    node, types = hou.node(path).displayNode(), []
    while node is not None:
        types.append(node.type().name())
        node = (node.inputs() or (None,))[0]
    return types[::-1]


def test_changes_are_nodes_that_the_artist_can_take_away(bench: Bench) -> None:
    path = bench.cube("Crate")
    shape(bench, "subdivide", path, levels=1)
    shape(bench, "shade", path, smooth=True)
    shape(bench, "normals", path, side="flip")
    assert chain(path) == ["box", "reverse", "normal", "subdivide"]
    assert bench.get(path)["type"] == "cube"
    told = shape(bench, "subdivide", path, levels=2)
    assert (told["mesh"]["faces"], told["result"]["faces"], told["shading"]) == (6, 96, "smooth")
    shape(bench, "subdivide", path, scheme="none")
    assert chain(path) == ["box", "reverse", "normal"]
    shape(bench, "triangulate", path)
    assert chain(path) == ["box", "reverse", "divide", "normal"]
    assert bench.get(path)["type"] == "geo"


def test_faces_with_their_own_material_keep_their_numbers(bench: Bench) -> None:
    path = bench.cube("Crate")
    bench.call("materials__create", {"name": "lid", "color": "#ff0000"})
    bench.call("materials__assign", {"name": "lid", "objects": [path], "faces": [2]})
    before = chain(path)
    with pytest.raises(HostError, match="would mean other faces once it is triangulated"):
        shape(bench, "triangulate", path)
    assert chain(path) == before
    assert shape(bench, "normals", path, side="flip")["mesh"]["faces"] == 6


def test_what_shows_nothing_is_told(bench: Bench) -> None:
    bench.call("cameras__create", {"name": "Eye"})
    with pytest.raises(HostError, match="is of type cam and shows no geometry"):
        bench.call("geometry__info", {"name": "Eye"})
