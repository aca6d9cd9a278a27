"""Checks that objects are found by their properties, and that a report about an object includes its
users and the reason why it is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.host import FILE, SCENE_MUTATE, SCENE_READ, STRUCTURE

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


def _paths_of(bench: Bench, **asked: Any) -> list[str]:
    return [each["path"] for each in bench.call("scene__find", asked)["objects"]]


class FindingObjects:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_filters_combine_and_sizes_sort(self, bench: Bench) -> None:
        small, large = bench.cube("crate_small", 1.0), bench.cube("crate_large", 8.0)
        middle = bench.cube("barrel", 4.0)
        assert _paths_of(bench, sort="size") == [large, middle, small]
        assert _paths_of(bench, sort="size", ascending=True, limit=1) == [small]
        assert _paths_of(bench, pattern="CRATE_*", min_size=5.0) == [large]
        assert _paths_of(bench, max_size=2.0) == [small]
        assert set(_paths_of(bench, type="cube")) == {small, middle, large}
        assert _paths_of(bench, type="light") == []
        assert bench.call("scene__find", {"limit": 1})["total"] == 3


class ExplainingObjects:
    needs = (SCENE_READ, SCENE_MUTATE, STRUCTURE, FILE)

    def test_a_parent_is_found_by_who_uses_it(self, bench: Bench) -> None:
        above, below = bench.cube("Above"), bench.cube("Below")
        below = bench.editor.set_parent(below, above, True)
        assert _paths_of(bench, uses="Above") == [below]
        assert _paths_of(bench, used_by=below) == [above]
        assert above in bench.call("scene__get_object", {"name": below, "detail": True})["uses"]

    def test_it_is_said_why_an_object_is_not_shown(self, bench: Bench) -> None:
        path = bench.cube("Ghost")
        assert bench.reader.whole(path)["visibility"]["shown"] is True
        bench.call("structure__set_visibility", {"objects": [path], "visible": False})
        seen = bench.call("scene__get_object", {"name": path, "detail": True})["visibility"]
        assert seen["shown"] is False
        assert seen["why_not_shown"] != []
