"""Data that a scene can't freely change: locked, from another file, or from several layers. Each
host makes such data in its own way, so the suite's caller passes samples, under the names below, to
``Bench(host, folder, samples)``. If a sample is missing, its checks are skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.errors import HostError
from callboard.host import SCENE_MUTATE, SCENE_READ
from callboard_testing.checks.objects import close, raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

#: An object whose translation can't be set: its channels are locked, or instances share it.
LOCKED = "sample.locked"
#: An object from another file, with at least one object below it: a reference, an XRef, a link.
REFERENCED = "sample.referenced"
#: An object with opinions in several of the scene's layers, with at least one object below it.
LAYERED = "sample.layered"

_COLOR = [0.25, 0.5, 1.0]
_CHANGES: dict[str, dict[str, object]] = {
    "scene__transform": {"translate": [7, 8, 9]},
    "scene__set_material_color": {"color": _COLOR},
    "scene__rename": {"new_name": "Renamed"},
    "scene__set_parent": {"parent": None},
    "scene__duplicate": {"new_name": "Twin"},
    "scene__delete": {},
}


class LockedData:
    needs = (SCENE_READ, SCENE_MUTATE, LOCKED)

    def test_it_is_read_and_not_moved(self, bench: Bench) -> None:
        path = bench.sample(LOCKED)
        before = bench.get(path)
        raised(HostError, bench.call, "scene__transform", {"name": path, "translate": [7, 8, 9]})
        assert bench.get(path) == before

    def test_a_change_of_several_values_is_done_whole_or_not_at_all(self, bench: Bench) -> None:
        path = bench.sample(LOCKED)
        before = bench.get(path)
        asked = {"name": path, "translate": [7, 8, 9], "scale": [2, 2, 2]}
        raised(HostError, bench.call, "scene__transform", asked)
        assert bench.get(path) == before


class ReferencedData:
    needs = (SCENE_READ, SCENE_MUTATE, REFERENCED)

    def test_each_change_is_right_or_refused(self, bench: Bench) -> None:
        """A tool that refuses raises HostError, and leaves the scene as it was."""
        for tool, asked in _CHANGES.items():
            path = bench.sample(REFERENCED)
            before = bench.everything()
            try:
                answer = bench.call(tool, {"name": path, **asked})
            except HostError:
                assert bench.everything() == before, tool
            else:
                assert answer["verified"] or answer["doubt"], tool


class LayeredData:
    needs = (SCENE_READ, SCENE_MUTATE, LAYERED)

    def test_a_copy_has_what_every_layer_says(self, bench: Bench) -> None:
        path = bench.sample(LAYERED)
        original = bench.get(path)
        assert original["children"]
        copy = bench.call("scene__duplicate", {"name": path, "new_name": "Twin"})["object"]
        assert len(copy["children"]) == len(original["children"])
        for corner in ("min", "max"):
            assert close(copy["bounds"][corner], original["bounds"][corner])
        bench.call("scene__delete", {"name": path})
        assert len(bench.get(copy["path"])["children"]) == len(original["children"])
