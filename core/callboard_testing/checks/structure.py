"""Checks groups, empties, visibility, new scenes, and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    ATTRIBUTES,
    CAMERAS,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    LIGHTS,
    MATERIALS,
    SCENE_MUTATE,
    SCENE_READ,
    STRUCTURE,
)
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_READING = ("groups", "members", "names", "get")
#: Values of custom attributes, each of a different type.
_OWN: Json = {
    "flag": True,
    "count": 7,
    "weight": 2.5,
    "mood": "calm",
    "weights": [0.5, 1.5, 2.5],
    "numbers": [1, 2, 3],
}


def _groups(bench: Bench) -> list[Json]:
    groups: list[Json] = bench.call("structure__list_groups")["groups"]
    return groups


def _all(bench: Bench) -> list[Json]:
    return [*_groups(bench), *bench.everything()]


def _set_own(bench: Bench, path: str, attribute: str) -> bool:
    """Set a custom attribute, and return whether the host keeps its value. Old hosts have no
    booleans."""
    asked = {"name": path, "attribute": attribute, "value": _OWN[attribute]}
    try:
        done = bench.call("attributes__set", asked)
    except HostError as refused:
        if attribute != "flag" or "whole number" not in str(refused):
            raise
        return False
    assert (done["changed"], done["verified"]) == ([path], True)
    return True


def _refused(bench: Bench, tool: str, asked: Json, state: Any) -> None:
    before = state(bench)
    raised((ValueError, HostError, LookupError), bench.call, tool, asked)  # type: ignore[arg-type]
    assert state(bench) == before, (tool, asked)


class Structure:
    needs = (SCENE_READ, SCENE_MUTATE, STRUCTURE)

    def test_an_empty_is_placed_and_holds_others(self, bench: Bench) -> None:
        made = bench.call(
            "structure__create_empty", {"name": "Pivot", "translate": [1, 2, 3], "scale": [2, 2, 2]}
        )
        path = made["created"][0]
        assert close(made["object"]["translate"], [1, 2, 3])
        assert made["object"]["bounds"] is None
        cube = bench.cube("Cube")
        bench.call("scene__set_parent", {"name": cube, "parent": path})
        assert len(bench.get(path)["children"]) == 1

    def test_objects_are_hidden_and_shown(self, bench: Bench) -> None:
        one, other = bench.cube("One"), bench.cube("Other")
        hide = {"objects": [one, other], "visible": False}
        assert bench.call("structure__set_visibility", hide)["changed"] == [one, other]
        assert [bench.get(each)["visible"] for each in (one, other)] == [False, False]
        bench.call("structure__set_visibility", {"objects": ["Other"], "visible": True})
        assert [bench.get(each)["visible"] for each in (one, other)] == [False, True]

    def test_what_is_hidden_keeps_its_place(self, bench: Bench) -> None:
        child, parent = bench.cube("Child"), bench.cube("Parent")
        bench.editor.set_transform(child, [1, 2, 3], [0, 45, 0], None)
        child = bench.editor.set_parent(child, parent, False)
        bench.editor.set_transform(parent, [10, 0, 0], [0, 0, 90], [2, 2, 2])
        before = bench.get(child)["bounds"]
        bench.call("structure__set_visibility", {"objects": [parent, child], "visible": False})
        bench.call("scene__transform", {"name": parent, "translate": [20, 0, 0]})
        (path,) = bench.call("scene__set_parent", {"name": child, "parent": None})["changed"]
        bench.call("structure__set_visibility", {"objects": [path], "visible": True})
        after = bench.get(path)["bounds"]
        for corner in ("min", "max"):
            x, y, z = before[corner]
            assert close(after[corner], [x + 10, y, z])

    def test_a_group_gathers_objects_and_moves_none(self, bench: Bench) -> None:
        one, other = bench.cube("One"), bench.cube("Other")
        bench.editor.set_transform(one, [5, 0, 0], None, None)
        before = [bench.get(each)["bounds"] for each in (one, other)]
        made = bench.call("structure__create_group", {"name": "Props", "objects": [one]})
        (path,) = made["created"]
        added = bench.call("structure__add_to_group", {"name": path, "objects": ["Other", one]})
        assert (added["changed"], set(added["group"]["objects"])) == ([path], {one, other})
        second = bench.call("structure__create_group", {"name": "Second", "objects": [one]})
        assert second["group"]["objects"] == [one]
        left = bench.call("structure__remove_from_group", {"name": path, "objects": [one]})
        assert left["group"]["objects"] == [other]
        assert [bench.get(each)["bounds"] for each in (one, other)] == before
        assert {path, second["created"][0]} <= {group["path"] for group in _groups(bench)}

    def test_a_group_follows_renames_and_deletions(self, bench: Bench) -> None:
        one, other = bench.cube("One"), bench.cube("Other")
        made = bench.call("structure__create_group", {"name": "Props", "objects": [one, other]})
        renamed = bench.call("scene__rename", {"name": one, "new_name": "Renamed"})["changed"][0]
        bench.call("scene__delete", {"name": other})
        (group,) = [each for each in _groups(bench) if each["path"] == made["created"][0]]
        assert group["objects"] == [renamed]

    def test_bad_input_changes_nothing(self, bench: Bench) -> None:
        cube = bench.cube("Cube")
        made = bench.call("structure__create_group", {"name": "Props", "objects": [cube]})
        wrong: list[tuple[str, Json]] = [
            ("create_empty", {"name": "Empty", "scale": [1, 1]}),
            ("set_visibility", {"objects": [cube, "Nobody"], "visible": False}),
            ("create_group", {"name": "More", "objects": [cube, "Nobody"]}),
            ("add_to_group", {"name": "Prpos", "objects": [cube]}),
            ("add_to_group", {"name": made["created"][0], "objects": ["Nobody"]}),
            ("remove_from_group", {"name": made["created"][0], "objects": []}),
        ]
        for tool, asked in wrong:
            _refused(bench, f"structure__{tool}", asked, _all)

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        one, other = bench.cube("One"), bench.cube("Other")
        made = bench.call("structure__create_group", {"name": "Props", "objects": [one]})
        (group,) = made["created"]
        changes: list[tuple[str, Json]] = [
            ("create_empty", {"name": "Pivot"}),
            ("set_visibility", {"objects": [one, other], "visible": False}),
            ("create_group", {"name": "Second", "objects": [one, other]}),
            ("add_to_group", {"name": group, "objects": [other]}),
            ("remove_from_group", {"name": group, "objects": [one]}),
        ]
        for tool, asked in changes:
            check_change(
                bench, STRUCTURE, _READING, f"structure__{tool}", asked, lambda: _all(bench)
            )

    def test_a_new_scene_is_empty_and_unsaved_work_is_not_lost(self, bench: Bench) -> None:
        bench.cube("Cube")
        before = bench.everything()
        raised(ValueError, bench.call, "structure__new_scene", {})
        assert bench.everything() == before
        made = bench.call("structure__new_scene", {"discard_changes": True})
        assert (made["object_count"], bench.reader.names()) == (0, [])
        assert bench.reader.info()["file"] is None
        assert bench.get(bench.cube("Cube"))["name"] == "Cube"


class SavedStructure:
    needs = (SCENE_READ, SCENE_MUTATE, STRUCTURE, ATTRIBUTES, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_it_is_in_the_file(self, bench: Bench) -> None:
        one, other = bench.cube("One"), bench.cube("Other")
        bench.call("structure__create_empty", {"name": "Pivot", "translate": [1, 2, 3]})
        bench.call("structure__create_group", {"name": "Props", "objects": [one, other]})
        bench.call("structure__set_visibility", {"objects": [other], "visible": False})
        own = [each for each in _OWN if _set_own(bench, one, each)]
        before = _all(bench)
        file = str(bench.folder / f"structure{bench.port(FILESYSTEM_WRITE).suffixes[0]}")
        bench.call("scene__save_file", {"path": file})
        bench.call("scene__open_file", {"path": file, "discard_changes": True})
        assert _all(bench) == before
        for attribute in own:
            assert bench.port(ATTRIBUTES).get("One", attribute)["value"] == _OWN[attribute]


class Attributes:
    needs = (SCENE_READ, SCENE_MUTATE, ATTRIBUTES)

    def test_all_that_are_listed_can_be_read(self, bench: Bench) -> None:
        port, cube = bench.port(ATTRIBUTES), bench.cube("Cube")
        names = port.names(cube)
        assert names
        assert len(set(names)) == len(names)
        for name in names:
            reported = port.get(cube, name)
            assert (reported["path"], reported["attribute"]) == (cube, name)
            assert reported["type"]
        for name in (names[0], names[-1]):
            listed = bench.call("attributes__list", {"name": cube, "pattern": name})
            assert name in [each["attribute"] for each in listed["attributes"]]

    def test_one_of_the_objects_own_has_the_type_of_its_value(self, bench: Bench) -> None:
        cube = bench.cube("Cube")
        for attribute, value in _OWN.items():
            if not _set_own(bench, cube, attribute):
                continue
            reported = bench.call("attributes__get", {"name": "Cube", "attribute": attribute})
            assert reported["value"] == value
            assert type(reported["value"]) is type(value)
        listed = bench.call("attributes__list", {"name": cube, "pattern": "m*", "limit": 1000})
        assert "mood" in [each["attribute"] for each in listed["attributes"]]
        asked = {"name": cube, "attribute": "mood", "value": "wild"}
        assert bench.call("attributes__set", asked)["attribute"]["value"] == "wild"

    def test_bad_input_changes_nothing(self, bench: Bench) -> None:
        cube = bench.cube("Cube")
        bench.call("attributes__set", {"name": cube, "attribute": "weight", "value": 2.5})

        def state(bench: Bench) -> object:
            port = bench.port(ATTRIBUTES)
            return [port.get(cube, each) for each in port.names(cube)], bench.everything()

        for attribute, value in (
            ("weight", "heavy"),
            ("weight", [1, 2]),
            ("mixed", [1, "a"]),
            ("", 1),
            ("a b/../c", 1),
            ("x" * 300, 1),
            ("far", 1e300),
        ):
            asked = {"name": cube, "attribute": attribute, "value": value}
            _refused(bench, "attributes__set", asked, state)
        nobody = {"name": "Nobody", "attribute": "weight", "value": 1.0}
        _refused(bench, "attributes__set", nobody, state)
        raised(HostError, bench.call, "attributes__get", {"name": cube, "attribute": "nothing"})

    def test_a_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        port, cube = bench.port(ATTRIBUTES), bench.cube("Cube")
        asked = {"name": cube, "attribute": "mood", "value": "calm"}
        check_change(
            bench, ATTRIBUTES, _READING, "attributes__set", asked, lambda: port.names(cube)
        )


class Details:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS, CAMERAS, LIGHTS)

    def test_an_object_tells_its_materials_its_lens_and_its_power(self, bench: Bench) -> None:
        if not hasattr(bench.reader, "details"):
            return
        cube = bench.cube("Cube")
        material = bench.call("materials__create", {"name": "Gold", "objects": [cube]})
        camera = bench.call("cameras__create", {"name": "Cam", "lens": 85})["created"][0]
        lamp = bench.call("lights__create", {"kind": "point", "name": "Lamp"})["created"][0]
        reported = {
            each: bench.call("scene__get_object", {"name": each}) for each in (cube, camera, lamp)
        }
        assert reported[cube]["materials"] == material["created"]
        assert close([reported[camera]["lens"]], [85])
        assert max(reported[lamp].get(key, 0) for key in ("energy", "intensity")) > 0
        plain = bench.call("scene__get_object", {"name": bench.cube("Plain")})
        assert not {"lens", "energy", "intensity", "keys", "modifiers"} & set(plain)
