"""Checks animation: the timeline, keys, and baking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.errors import HostError
from callboard.host import ANIMATION, SCENE_MUTATE, SCENE_READ, ObjectNotFound
from callboard_testing.checks.objects import close, raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

#: Tools that move an object, each in its own way.
_MOVES: dict[str, dict[str, object]] = {
    "scene__transform": {"translate": [50, 60, 70]},
    "scene__set_parent": {"parent": "Group"},
    "scene__duplicate": {"new_name": "Copy", "translate": [50, 60, 70]},
}


def _port(bench: Bench) -> Any:
    return bench.port(ANIMATION)


def _frames(bench: Bench, name: str) -> list[float]:
    return [key["frame"] for key in _port(bench).keys(name)]


class Timeline:
    needs = (SCENE_READ, SCENE_MUTATE, ANIMATION)

    def test_the_range_and_the_current_frame_are_set_and_read(self, bench: Bench) -> None:
        timeline = bench.call("animation__set_timeline", {"start": 10, "end": 300, "current": 12})
        assert (timeline["start"], timeline["end"], timeline["current"]) == (10, 300, 12)
        assert timeline["fps"] == bench.reader.info()["fps"]
        assert bench.reader.info()["frame_range"] == [10, 300]
        assert bench.call("animation__get_timeline") == timeline
        raised(ValueError, bench.call, "animation__set_timeline", {"start": 301})
        assert bench.call("animation__get_timeline") == timeline

    def test_the_frames_per_second_are_set_where_the_host_can(self, bench: Bench) -> None:
        before = bench.call("animation__get_timeline")
        for fps in (30, 23.976, before["fps"]):
            if not hasattr(_port(bench), "set_fps"):
                raised(HostError, bench.call, "animation__set_timeline", {"fps": fps})
                assert bench.call("animation__get_timeline") == before
                continue
            reported = bench.call("animation__set_timeline", {"fps": fps})
            assert close([reported["fps"]], [fps], 1e-4)
            assert close([bench.reader.info()["fps"]], [fps], 1e-4)


class Keys:
    needs = (SCENE_READ, SCENE_MUTATE, ANIMATION)

    def test_what_is_keyed_is_listed(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        assert _port(bench).keys(path) == []
        assert _port(bench).set_key(path, 1, [0, 0, 0], None, None) == path
        _port(bench).set_key(path, 25, [0, 10, 0], [0, 90, 0], None)
        first, last = _port(bench).keys(path)
        assert set(first) == {"frame", "translate"}
        assert set(last) == {"frame", "translate", "rotate"}
        assert close(last["translate"], [0, 10, 0])
        assert close(last["rotate"], [0, 90, 0])

    def test_a_key_moves_the_object_at_its_frame(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        _port(bench).set_range(1, 50)
        _port(bench).set_key(path, 1, [0, 0, 0], None, [1, 1, 1])
        _port(bench).set_key(path, 25, [0, 10, 0], None, [2, 2, 2])
        for frame, height, size in ((1, 0, 1), (25, 10, 2)):
            _port(bench).set_current(frame)
            assert close(bench.get(path)["translate"], [0, height, 0])
            assert close(bench.get(path)["scale"], [size, size, size])

    def test_a_key_replaces_the_one_that_was_there(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        _port(bench).set_key(path, 5, [1, 1, 1], None, None)
        _port(bench).set_key(path, 5, [2, 2, 2], None, None)
        (key,) = _port(bench).keys(path)
        assert close(key["translate"], [2, 2, 2])

    def test_keys_are_deleted_in_a_range(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        for frame in (1, 5, 10, 15):
            _port(bench).set_key(path, frame, [frame, 0, 0], None, None)
        assert _port(bench).delete_keys(path, 5, 10) == 2
        assert _frames(bench, path) == [1, 15]
        assert _port(bench).delete_keys(path, 5, 10) == 0

    def test_a_copy_has_keys_of_its_own(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        for frame in (1, 5):
            _port(bench).set_key(path, frame, [frame, 0, 0], None, None)
        copy = bench.editor.duplicate(path, "Copy")
        _port(bench).delete_keys(copy, 0, 10)
        _port(bench).set_key(copy, 9, [9, 9, 9], None, None)
        assert _frames(bench, path) == [1, 5]
        assert _frames(bench, copy) == [9]

    def test_a_copied_tree_has_the_keys_of_what_is_below(self, bench: Bench) -> None:
        below = bench.editor.set_parent(bench.cube("Below"), bench.cube("Top"), True)
        for frame in (1, 5):
            _port(bench).set_key(below, frame, [frame, 0, 0], None, None)
        (copied,) = bench.get(bench.editor.duplicate("Top", "Copy"))["children"]
        assert _port(bench).keys(copied) == _port(bench).keys(below)
        _port(bench).delete_keys(copied, 0, 10)
        assert _frames(bench, below) == [1, 5]

    def test_a_change_of_what_is_keyed_lasts_or_is_not_called_verified(self, bench: Bench) -> None:
        """If the keys didn't change too, they would put the object back at the next frame. A tool
        that refuses must leave the object unchanged."""
        group = bench.cube("Group")
        bench.editor.set_transform(group, [10, 0, 0], [0, 0, 90], [1, 2, 1])
        for tool, asked in _MOVES.items():
            path = bench.cube("Mover")
            for frame in (1, 9):
                _port(bench).set_key(path, frame, [frame, 0, 0], [0, 0, 0], [1, 1, 1])
            _port(bench).set_current(5)
            before = bench.get(path)
            try:
                answer = bench.call(tool, {"name": path, **asked})
            except HostError:
                assert bench.get(path) == before, tool
            else:
                reported = answer["object"]
                _port(bench).set_current(9)
                _port(bench).set_current(5)
                lasting = bench.get(reported["path"])
                lasts = all(
                    close(lasting["bounds"][corner], reported["bounds"][corner], 1e-3)
                    for corner in ("min", "max")
                )
                assert lasts or not answer["verified"], (tool, reported, lasting)
            bench.editor.delete([one for one in bench.reader.names() if one != group])

    def test_keys_have_an_interpolation(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        keys = [
            {"frame": frame, "translate": [frame, 0, 0], "interpolation": word}
            for frame, word in ((1, "constant"), (11, "linear"), (21, "smooth"))
        ]
        asked = {"name": path, "keys": keys}
        if not hasattr(_port(bench), "set_interpolation"):
            raised(HostError, bench.call, "animation__set_keys", asked)
            assert _port(bench).keys(path) == []
            return
        bench.call("animation__set_keys", asked)
        listed = bench.call("animation__list_keys", {"name": path})["keys"]
        assert [key["interpolation"] for key in listed] == ["constant", "linear", "smooth"]
        for frame, x in ((6, 1), (16, 16)):
            _port(bench).set_current(frame)
            assert close(bench.get(path)["translate"], [x, 0, 0])
        wrong = {"name": path, "keys": [{**keys[0], "interpolation": "wobbly"}]}
        raised(ValueError, bench.call, "animation__set_keys", wrong)

    def test_an_interpolation_is_set_for_what_the_key_names_alone(self, bench: Bench) -> None:
        if not hasattr(_port(bench), "set_interpolation"):
            return
        path = bench.cube("Mover")
        for component, word in (("translate", "constant"), ("rotate", "linear")):
            keys: list[dict[str, object]] = [
                {"frame": frame, component: [0, 0, frame], "interpolation": word}
                for frame in (1, 21)
            ]
            bench.call("animation__set_keys", {"name": path, "keys": keys})
        _port(bench).set_current(11)
        there = bench.get(path)
        assert close(there["translate"], [0, 0, 1])
        assert close(there["rotate"], [0, 0, 11])
        for component, word in (("translate", "constant"), ("rotate", "linear")):
            asked = {"name": path, "components": [component]}
            listed = bench.call("animation__list_keys", asked)["keys"]
            assert [key["interpolation"] for key in listed] == [word, word]
        first = bench.call("animation__list_keys", {"name": path})["keys"][0]
        assert first["interpolations"] == {"translate": "constant", "rotate": "linear"}

    def test_the_keys_of_one_component_are_listed(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        for frame, place, turn in (
            (1, [0, 0, 0], None),
            (5, None, [0, 0, 9]),
            (9, [1, 0, 0], None),
        ):
            _port(bench).set_key(path, frame, place, turn, None)
        page = bench.call("animation__list_keys", {"name": path, "components": ["translate"]})
        assert [(key["frame"], "rotate" in key) for key in page["keys"]] == [(1, False), (9, False)]
        assert page["total"] == 2
        raised(ValueError, bench.call, "animation__list_keys", {"components": ["rotate"]})

    def test_an_unknown_object_is_an_error(self, bench: Bench) -> None:
        port = _port(bench)
        raised(ObjectNotFound, port.keys, "Nobody")
        raised(ObjectNotFound, port.set_key, "Nobody", 1, [0, 0, 0], None, None)
        raised(ObjectNotFound, port.bake, ["Nobody"], 1, 2, 1)

    def test_the_tools_verify_and_page(self, bench: Bench) -> None:
        bench.cube("Mover")
        keys = [{"frame": frame, "translate": [frame, 0, 0]} for frame in range(1, 6)]
        done = bench.call("animation__set_keys", {"name": "Mover", "keys": keys})
        assert (done["keys"], done["verified"]) == (5, True)
        page = bench.call("animation__list_keys", {"name": "Mover", "limit": 2, "offset": 2})
        assert [key["frame"] for key in page["keys"]] == [3, 4]
        assert (page["total"], page["next_offset"]) == (5, 4)
        nothing = {"name": "Mover", "keys": [{"frame": 9}]}
        raised(ValueError, bench.call, "animation__set_keys", nothing)
        gone = bench.call("animation__delete_keys", {"name": "Mover", "start": 2, "end": 4})
        assert gone["keys"] == 3
        assert bench.call("animation__list_keys", {"name": "Mover"})["total"] == 2

    def test_keys_are_one_undo_step(self, bench: Bench) -> None:
        undo = bench.host.undo
        if undo is None:
            return
        path = bench.cube("Mover")
        _port(bench).set_key(path, 1, [0, 0, 0], None, None)
        undo.commit(undo.begin("prepare"))
        before = _port(bench).keys(path)
        token = undo.begin("key")
        for frame in (5, 10):
            _port(bench).set_key(path, frame, [frame, 0, 0], [0, frame, 0], None)
        assert undo.rollback(token) is True
        assert _port(bench).keys(path) == before


class Baking:
    needs = (SCENE_READ, SCENE_MUTATE, ANIMATION)

    def test_every_frame_gets_a_key_on_the_same_path(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        port = _port(bench)
        port.set_range(1, 20)
        port.set_key(path, 1, [0, 0, 0], None, None)
        port.set_key(path, 9, [8, 0, 0], None, None)
        before = []
        for frame in range(1, 10):
            port.set_current(frame)
            before.append(bench.get(path)["translate"])
        done = bench.call("animation__bake", {"names": ["Mover"], "start": 1, "end": 9})
        assert done["changed"] == [path]
        assert done["keys"] == 9
        keys = port.keys(path)
        assert [key["frame"] for key in keys] == list(range(1, 10))
        for key, place in zip(keys, before, strict=True):
            assert close(key["translate"], place)

    def test_it_stays_where_it_was_at_every_frame_below_what_moves(self, bench: Bench) -> None:
        port, parent, child = _port(bench), bench.cube("Parent"), bench.cube("Child")
        port.set_range(1, 9)
        bench.editor.set_transform(parent, [10, 0, 0], [0, 0, 30], [2, 2, 2])
        bench.editor.set_transform(child, [12, 3, 4], [10, 20, 30], None)
        child = bench.editor.set_parent(child, parent, True)
        for frame, turn in ((1, 30), (9, 120)):
            port.set_key(parent, frame, None, [0, 0, turn], None)
        placed = bench.get(child)["translate"]
        for frame, further in ((1, 0), (9, 5)):
            port.set_key(child, frame, [placed[0] + further, placed[1], placed[2]], None, None)
        boxes = self._boxes(bench, child)
        bench.call("animation__bake", {"names": [child], "start": 1, "end": 9})
        for (frame, before), after in zip(
            boxes.items(), self._boxes(bench, child).values(), strict=True
        ):
            for corner in ("min", "max"):
                assert close(after[corner], before[corner], 1e-3), frame

    def _boxes(self, bench: Bench, name: str) -> dict[int, Any]:
        boxes = {}
        for frame in (1, 4, 9):
            _port(bench).set_current(frame)
            boxes[frame] = bench.get(name)["bounds"]
        return boxes

    def test_a_step_leaves_frames_out(self, bench: Bench) -> None:
        path = bench.cube("Mover")
        _port(bench).set_key(path, 1, [0, 0, 0], None, None)
        _port(bench).set_key(path, 7, [6, 0, 0], None, None)
        _port(bench).bake([path], 1, 7, 3)
        assert _frames(bench, path) == [1, 4, 7]

    def test_too_much_is_refused(self, bench: Bench) -> None:
        bench.cube("Mover")
        much = {"names": ["Mover"], "start": 0, "end": 900_000}
        raised(ValueError, bench.call, "animation__bake", much)
        assert _port(bench).keys("Mover") == []
