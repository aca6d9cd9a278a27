"""Checks with data that each host makes in its own way: the application's own objects, other
documents, and objects that can't freely be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import SkipTest

from callboard.errors import HostError
from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    ObjectNotFound,
)
from callboard_testing.checks.objects import FIELDS, close, raised
from callboard_testing.checks.samples import DOCUMENT, LAYERED, LOCKED, OBJECT, REFERENCED

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_COLOR = [0.25, 0.5, 1.0]
_CHANGES: dict[str, dict[str, object]] = {
    "scene__transform": {"translate": [7, 8, 9]},
    "scene__set_material_color": {"color": _COLOR},
    "scene__rename": {"new_name": "Renamed"},
    "scene__set_parent": {"parent": None},
    "scene__duplicate": {"new_name": "Twin"},
    "scene__delete": {},
}


def check_changes(bench: Bench, sample: str) -> None:
    """Check that each change to a sample is verified or doubted, or is refused with a HostError and
    leaves the scene as it was."""
    for tool, asked in _CHANGES.items():
        path = bench.sample(sample)
        before = bench.everything()
        try:
            answer = bench.call(tool, {"name": path, **asked})
        except HostError:
            assert bench.everything() == before, tool
        else:
            assert answer["verified"] or answer["doubt"], tool


class OwnObjects:
    """Checks the application's own objects. They don't need ``scene.mutate``, because a skill of
    the host may make the objects."""

    needs = (SCENE_READ, OBJECT)

    def test_it_is_read_like_any_other(self, bench: Bench) -> None:
        path = bench.sample(OBJECT)
        entry = bench.get(path)
        assert set(entry) >= FIELDS
        assert bench.get(entry["name"]) == entry
        assert bench.call("scene__list_objects")["total"] == bench.reader.info()["object_count"]
        assert path in [each["path"] for each in bench.reader.summaries()]
        error = raised(ObjectNotFound, bench.reader.get, f"{entry['name']}x")
        assert entry["name"] in str(error)

    def test_making_it_is_one_undo_step(self, bench: Bench) -> None:
        undo = bench.host.undo
        if undo is None:
            raise SkipTest("the host has no undo")
        states = [bench.everything()]
        token = undo.begin("make it")
        bench.sample(OBJECT, among=True)
        step = undo.commit(token)
        assert step
        states.append(bench.everything())
        assert len(states[1]) > len(states[0])
        for do, state in ((undo.undo, 0), (undo.redo, 1)):
            assert do(step) is True
            assert bench.everything() == states[state]
        token = undo.begin("make another and fail")
        bench.sample(OBJECT, among=True)
        assert undo.rollback(token) is True
        assert bench.everything() == states[1]


class OwnObjectsInFiles:
    needs = (SCENE_READ, OBJECT, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_what_is_saved_is_opened(self, bench: Bench) -> None:
        suffix = bench.port(FILESYSTEM_WRITE).suffixes[0]
        path = str(bench.folder / f"own{suffix}")
        bench.sample(OBJECT)
        before = bench.everything()
        bench.call("scene__save_file", {"path": path})
        assert bench.reader.info()["modified"] is False
        bench.sample(OBJECT)
        opened = bench.call("scene__open_file", {"path": path, "discard_changes": True})
        assert opened["object_count"] == len(before)
        assert bench.everything() == before


class OwnObjectsChanged:
    needs = (SCENE_READ, SCENE_MUTATE, OBJECT)

    def test_each_change_is_right_or_refused(self, bench: Bench) -> None:
        check_changes(bench, OBJECT)


class Documents:
    needs = (SCENE_READ, SCENE_MUTATE, DOCUMENT)

    def test_the_scene_is_the_current_document_only(self, bench: Bench) -> None:
        path = bench.cube("Here")
        bench.sample(DOCUMENT, among=True)
        assert bench.reader.names() == []
        assert bench.reader.info()["object_count"] == 0
        raised(ObjectNotFound, bench.reader.get, path)

    def test_a_step_of_another_document_is_never_undone(self, bench: Bench) -> None:
        undo = bench.host.undo
        if undo is None:
            raise SkipTest("the host has no undo")
        steps = []
        for number in range(2):
            if number:
                bench.sample(DOCUMENT, among=True)
            token = undo.begin(f"step {number}")
            bench.cube("Cube")
            steps.append(undo.commit(token) or "")
        before = bench.everything()
        assert undo.undo(steps[0]) is False
        assert bench.everything() == before
        assert undo.undo(steps[1]) is True
        assert bench.reader.names() == []


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
        check_changes(bench, REFERENCED)


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
