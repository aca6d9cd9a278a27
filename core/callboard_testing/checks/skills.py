"""Checks of the skills that callboard ships, for the compliance suite of each host. They call the
tools directly, without a client or a server; arguments and answers are validated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    USD,
    ObjectNotFound,
)
from callboard_testing.checks.objects import KINDS, close, raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class SceneSkill:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_info_and_lists_have_the_shape_they_promise(self, bench: Bench) -> None:
        for index in range(5):
            bench.cube(f"Box{index}")
        bench.editor.create("sphere", "Ball", {"radius": 1.0})
        assert bench.call("scene__scene_info")["object_count"] == 6
        page = bench.call("scene__list_objects", {"pattern": "box*", "limit": 2, "offset": 2})
        assert [entry["name"] for entry in page["objects"]] == ["Box2", "Box3"]
        assert (page["total"], page["next_offset"]) == (5, 4)
        last = bench.call("scene__list_objects", {"pattern": "box*", "limit": 2, "offset": 4})
        assert "next_offset" not in last
        assert bench.call("scene__list_objects", {"type": "sphere"})["total"] == 1
        bench.call("scene__set_parent", {"name": "Ball", "parent": "Box0"})
        below = bench.call("scene__list_objects", {"parent": "Box0"})
        assert [entry["name"] for entry in below["objects"]] == ["Ball"]

    def test_every_kind_is_created_and_verified(self, bench: Bench) -> None:
        for kind, sizes in KINDS.items():
            for arguments in ({"kind": kind}, {"kind": kind, **sizes, "translate": [1, 2, 3]}):
                answer = bench.call("scene__create_primitive", arguments)
                assert answer["verified"] is True
                assert answer["created"] == [answer["object"]["path"]]
                assert answer["object"]["type"] == kind

    def test_sizes_of_another_kind_are_refused(self, bench: Bench) -> None:
        wrong: list[dict[str, Any]] = [
            {"kind": "cube", "radius": 1},
            {"kind": "torus", "minor_radius": 2},
            {"kind": "dodo"},
            {"kind": "sphere", "radius": 0},
            {"radius": 1},
        ]
        for arguments in wrong:
            raised(ValueError, bench.call, "scene__create_primitive", arguments)
        assert bench.reader.names() == []

    def test_each_edit_answers_with_the_object_as_it_is(self, bench: Bench) -> None:
        call: Any = bench.call
        call("scene__create_primitive", {"kind": "cube", "name": "Hero"})
        call("scene__create_primitive", {"kind": "sphere", "name": "Group"})
        moved = call(
            "scene__transform", {"name": "Hero", "translate": [1, 2, 3], "rotate": [0, 0, 190]}
        )
        assert close(moved["object"]["translate"], [1, 2, 3])
        placed = call("scene__set_parent", {"name": "Hero", "parent": "Group"})
        assert placed["object"]["parent"] == bench.get("Group")["path"]
        colored = call("scene__set_material_color", {"name": "Hero", "color": [1, 0.5, 0]})
        assert close(colored["object"]["color"], [1, 0.5, 0])
        copied = call(
            "scene__duplicate", {"name": "Hero", "new_name": "Copy", "translate": [0, 9, 0]}
        )
        assert close(copied["object"]["translate"], [0, 9, 0])
        renamed = call("scene__rename", {"name": "Copy", "new_name": "Sidekick"})
        assert renamed["object"]["name"] == "Sidekick"
        chosen = call("scene__select", {"name": "Hero", "names": ["Sidekick"]})
        assert sorted(chosen["selection"]) == sorted(call("scene__get_selection")["selection"])
        free = call("scene__set_parent", {"name": "Hero", "parent": None})
        assert close(free["object"]["translate"], [1, 2, 3])
        gone = call("scene__delete", {"name": "Sidekick", "names": ["Group"]})
        assert len(gone["deleted"]) == 2
        assert [entry["name"] for entry in bench.everything()] == ["Hero"]

    def test_a_failing_call_changes_nothing(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()
        for tool, arguments in (
            ("scene__transform", {"name": "Here"}),
            ("scene__transform", {"name": "Gone", "translate": [1, 1, 1]}),
            ("scene__delete", {"names": ["Here", "Gone"]}),
            ("scene__delete", {}),
            ("scene__rename", {"name": "Here", "new_name": ""}),
            ("scene__set_material_color", {"name": "Here", "color": [2, 0, 0]}),
        ):
            raised((ValueError, ObjectNotFound), bench.call, tool, arguments)  # type: ignore[arg-type]
            assert bench.everything() == before, tool


class FileTools:
    needs = (SCENE_READ, SCENE_MUTATE, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_unsaved_changes_are_not_lost_by_accident(self, bench: Bench) -> None:
        suffix = bench.port(FILESYSTEM_WRITE).suffixes[0]
        path = str(bench.folder / f"scene{suffix}")
        bench.cube("Saved")
        assert bench.call("scene__save_file", {"path": path})["verified"] is True
        bench.cube("Unsaved")
        raised(ValueError, bench.call, "scene__open_file", {"path": path})
        assert bench.reader.info()["object_count"] == 2
        opened = bench.call("scene__open_file", {"path": path, "discard_changes": True})
        assert opened["object_count"] == 1


class UsdTools:
    needs = (SCENE_READ, SCENE_MUTATE, FILESYSTEM_READ, FILESYSTEM_WRITE, USD)

    def test_export_metadata_import(self, bench: Bench) -> None:
        path = str(bench.folder / "scene.usdc")
        bench.call("scene__create_primitive", {"kind": "torus", "name": "Ring"})
        assert bench.call("usd__export_usd", {"path": path})["verified"] is True
        assert bench.call("usd__read_stage_metadata", {"path": path})["prims"] >= 1
        imported = bench.call("usd__import_usd", {"path": path})
        assert imported["created_count"] == len(imported["created"])
        assert bench.reader.info()["object_count"] == 1 + imported["created_count"]
