"""Checks scene files and USD files, with round trips and with invalid files, which must not change
anything."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from callboard.errors import HostError
from callboard.host import (
    ANIMATION,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    USD,
)
from callboard_testing.checks.objects import KINDS, attempt, close, raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_PLACE: dict[str, object] = {"translate": [1, 2, 3], "rotate": [10, 20, 30], "scale": [1, 2, 3]}
_CHANGES: list[tuple[str, dict[str, object]]] = [
    ("scene__create_primitive", {"kind": "cube", "name": "Base", **_PLACE}),
    ("scene__create_primitive", {"kind": "torus", "name": "Ring", "translate": [0, 5, 0]}),
    ("scene__create_primitive", {"kind": "cone", "name": "Gone"}),
    ("scene__set_parent", {"name": "Ring", "parent": "Base"}),
    ("scene__set_material_color", {"name": "Ring", "color": [0.25, 0.5, 1]}),
    ("scene__duplicate", {"name": "Base", "new_name": "Twin", "translate": [9, 0, 0]}),
    ("scene__rename", {"name": "Base", "new_name": "Renamed"}),
    ("scene__delete", {"name": "Gone"}),
    ("scene__create_primitive", {"kind": "sphere", "name": "Mirrored", "scale": [1, -1, 1]}),
    ("scene__transform", {"name": "Mirrored", "translate": [4, 5, 6]}),
]
_MOTION: list[tuple[str, dict[str, object]]] = [
    (
        "animation__set_keys",
        {
            "name": "Mirrored",
            "keys": [{"frame": 1, "translate": [0, 0, 0]}, {"frame": 9, "translate": [8, 0, 0]}],
        },
    ),
    ("animation__set_timeline", {"start": 1, "end": 20, "current": 5}),
    ("animation__bake", {"names": ["Mirrored"], "start": 1, "end": 9, "step": 4}),
]


def _keys(bench: Bench) -> list[object]:
    """Return the timeline, and each object's keys."""
    if ANIMATION not in bench.host.ports:
        return []
    port = bench.port(ANIMATION)
    return [port.timeline(), *(port.keys(path) for path in bench.reader.names())]


def _hostile(bench: Bench, suffix: str) -> list[str]:
    """Return the paths of bad files: a missing one, an empty one, a truncated one, one of another
    kind, and a folder."""
    content = {
        "empty": b"",
        "noise": bytes(range(256)) * 16,
        "text": b"once upon a time",
        "usd": b'#usda 1.0\ndef Sphere "a" (',
        "blend": b"BLENDER-v405" + b"\x00" * 20,
        "crate": b"PXR-USDC" + b"\xff" * 200,
    }
    for name, data in content.items():
        (bench.folder / f"{name}{suffix}").write_bytes(data)
    (bench.folder / "text.txt").write_bytes(content["text"])
    (bench.folder / f"folder{suffix}").mkdir()
    names = [*content, "folder", "missing"]
    return [str(bench.folder / f"{name}{suffix}") for name in names]


class SceneFile:
    needs = (SCENE_READ, SCENE_MUTATE, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_what_is_saved_is_opened(self, bench: Bench) -> None:
        writer: Any = bench.port(FILESYSTEM_WRITE)
        for suffix in writer.suffixes:
            bench.empty()
            bench.cube("Child")
            bench.cube("Parent")
            attempt(bench.editor.set_parent, "Child", "Parent", True)
            attempt(bench.editor.set_transform, "Child", [1, 2, 3], [10, 20, 30], [1, 2, 3])
            attempt(bench.editor.set_color, "Child", [1, 0.5, 0.25])
            before = bench.everything()
            path = str(bench.folder / f"scene {suffix[1:]}{suffix}")
            with bench.step():
                saved = writer.save(path)
            assert saved["bytes"] == (bench.folder / f"scene {suffix[1:]}{suffix}").stat().st_size
            assert bench.reader.info()["file"] == path
            assert bench.reader.info()["modified"] is False
            with bench.step():
                bench.editor.delete(["Parent"])
            assert bench.reader.info()["modified"] is True
            with bench.step():
                opened = bench.port(FILESYSTEM_READ).open(path)
            assert opened["object_count"] == 2
            assert bench.everything() == before
            assert bench.reader.info()["modified"] is False

    def test_what_tools_call_verified_is_there_after_the_next_load(self, bench: Bench) -> None:
        writer: Any = bench.port(FILESYSTEM_WRITE)
        for suffix in writer.suffixes:
            bench.empty()
            path = str(bench.folder / f"scene{suffix}")
            answers = [bench.call(tool, asked) for tool, asked in _CHANGES]
            if ANIMATION in bench.host.ports:
                answers += [bench.call(tool, asked) for tool, asked in _MOTION]
            answers.append(bench.call("scene__save_file", {"path": path}))
            assert all(answer.get("verified", True) for answer in answers)
            before, keys = bench.everything(), _keys(bench)
            bench.empty()
            assert bench.call("scene__open_file", {"path": path, "discard_changes": True})[
                "verified"
            ]
            assert (bench.everything(), _keys(bench)) == (before, keys), suffix

    def test_saving_again_needs_no_path(self, bench: Bench) -> None:
        writer: Any = bench.port(FILESYSTEM_WRITE)
        path = str(bench.folder / f"scene{writer.suffixes[0]}")
        bench.cube("One")
        writer.save(path)
        bench.cube("Two")
        assert writer.save(None)["path"] == path
        bench.port(FILESYSTEM_READ).open(path)
        assert bench.reader.info()["object_count"] == 2

    def test_a_bad_file_leaves_the_scene(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()
        suffix = bench.port(FILESYSTEM_WRITE).suffixes[0]
        for path in [*_hostile(bench, suffix), str(bench.folder / "text.txt")]:
            raised(HostError, bench.port(FILESYSTEM_READ).open, path)
            assert bench.everything() == before, path

    def test_a_place_that_can_not_be_written_is_an_error(self, bench: Bench) -> None:
        writer: Any = bench.port(FILESYSTEM_WRITE)
        bench.cube("Here")
        suffix = writer.suffixes[0]
        (bench.folder / f"folder{suffix}").mkdir()
        raised(HostError, writer.save, str(bench.folder / "nowhere" / f"scene{suffix}"))
        raised(HostError, writer.save, str(bench.folder / f"folder{suffix}"))
        raised(HostError, writer.save, str(bench.folder / "scene.txt"))
        assert [p.name for p in bench.folder.iterdir()] == [f"folder{suffix}"]

    def test_a_read_only_file_is_left_as_it_is(self, bench: Bench) -> None:
        """Saving must fail both with the file's path and without a path."""
        writer: Any = bench.port(FILESYSTEM_WRITE)
        file = bench.folder / f"kept{writer.suffixes[0]}"
        bench.cube("Here")
        writer.save(str(file))
        kept = file.read_bytes()
        file.chmod(0o444)
        bench.cube("More")
        raised(HostError, writer.save, str(file))
        raised(HostError, writer.save, None)
        assert file.read_bytes() == kept
        file.chmod(0o644)

    def test_a_link_stays_one(self, bench: Bench) -> None:
        """The file that the link points to must be written, both the first and the second time."""
        writer: Any = bench.port(FILESYSTEM_WRITE)
        suffix = writer.suffixes[0]
        (bench.folder / "published").mkdir()
        kept = bench.folder / "published" / f"kept{suffix}"
        link = bench.folder / f"latest{suffix}"
        bench.cube("One")
        writer.save(str(kept))
        with suppress(OSError):
            link.symlink_to(kept)
        if not link.is_symlink():
            return  # On Windows, few users may create links.
        bench.cube("Two")
        writer.save(str(link))
        bench.cube("Three")
        writer.save(None)
        assert link.is_symlink()
        assert bench.port(FILESYSTEM_READ).open(str(kept))["object_count"] == 3


class UsdFile:
    needs = (SCENE_READ, SCENE_MUTATE, USD, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_what_is_exported_is_imported(self, bench: Bench) -> None:
        path = str(bench.folder / "out.usda")
        bench.editor.create("sphere", "Ball", {"radius": 2.0})
        bench.editor.set_transform("Ball", [1, 2, 3], None, [1, 2, 1])
        bench.editor.set_color("Ball", [1.0, 0.5, 0.25])
        before = bench.get("Ball")["bounds"]
        exported = bench.port(USD).export_usd(path, False)
        assert exported["bytes"] == (bench.folder / "out.usda").stat().st_size
        assert exported["prims"] >= 1
        bench.empty()
        created = bench.port(USD).import_usd(path, None)["created"]
        assert sorted(created) == sorted(bench.reader.names())
        balls = [entry for entry in bench.everything() if entry["name"] == "Ball"]
        assert len(balls) == 1
        assert close(balls[0]["bounds"]["min"], before["min"], 0.01)
        assert close(balls[0]["bounds"]["max"], before["max"], 0.01)
        assert close(balls[0]["color"], [1.0, 0.5, 0.25])

    def test_an_export_carries_nothing_of_callboards(self, bench: Bench) -> None:
        for kind, dimensions in KINDS.items():
            bench.editor.create(kind, f"A{kind}", dimensions)
        bench.port(USD).export_usd(str(bench.folder / "out.usda"), False)
        written = (bench.folder / "out.usda").read_text("utf-8")
        assert "Atorus" in written
        # Some hosts write the folder's path into the file, and the folder may have any name.
        assert "callboard" not in written.replace(bench.folder.as_posix(), "").lower()
        # In the scene, the objects still have their types.
        assert {bench.get(f"A{kind}")["type"] for kind in KINDS} == set(KINDS)

    def test_an_import_below_an_object(self, bench: Bench) -> None:
        path = str(bench.folder / "out.usda")
        bench.cube("Thing")
        bench.port(USD).export_usd(path, False)
        bench.empty()
        bench.cube("Group")
        created = bench.port(USD).import_usd(path, "Group")["created"]
        tops = [path for path in created if bench.get(path)["parent"] not in created]
        group = bench.get("Group")
        assert tops
        assert all(bench.get(top)["parent"] == group["path"] for top in tops)

    def test_only_the_selection_is_exported(self, bench: Bench) -> None:
        path = str(bench.folder / "out.usda")
        bench.cube("Wanted")
        bench.cube("Unwanted")
        bench.editor.select(["Wanted"])
        bench.port(USD).export_usd(path, True)
        text = (bench.folder / "out.usda").read_text("utf-8")
        assert '"Wanted"' in text
        assert '"Unwanted"' not in text
        bench.editor.select([])
        raised(HostError, bench.port(USD).export_usd, str(bench.folder / "none.usda"), True)
        assert not (bench.folder / "none.usda").exists()

    def test_metadata_without_touching_the_scene(self, bench: Bench) -> None:
        file = bench.folder / "meta.usda"
        file.write_text(
            '#usda 1.0\n(\n defaultPrim = "Hero"\n metersPerUnit = 0.1\n upAxis = "Z"\n'
            " startTimeCode = 1\n endTimeCode = 48\n timeCodesPerSecond = 30\n)\n"
            'def Xform "Hero"\n{\n def Sphere "Ball" {}\n}\n',
            encoding="utf-8",
        )
        bench.cube("Here")
        before = bench.everything()
        metadata = bench.port(USD).stage_metadata(str(file))
        assert bench.everything() == before
        assert metadata == {
            "path": str(file),
            "default_prim": "/Hero",
            "up_axis": "Z",
            "meters_per_unit": 0.1,
            "start_frame": 1.0,
            "end_frame": 48.0,
            "fps": 30.0,
            "prims": 2,
            "layers": [str(file)],
        }
        file.write_text('#usda 1.0\ndef Sphere "Ball" {}\n', encoding="utf-8")
        assert bench.port(USD).stage_metadata(str(file))["prims"] == 1

    def test_units_and_axes_are_converted(self, bench: Bench) -> None:
        info = bench.reader.info()
        other = "Z" if info["up_axis"] == "Y" else "Y"
        up = 1 if other == "Y" else 2
        place = [0.0, 0.0, 0.0]
        place[up] = 3.0
        (bench.folder / "foreign.usda").write_text(
            f'#usda 1.0\n(\n metersPerUnit = 0.5\n upAxis = "{other}"\n defaultPrim = "Top"\n)\n'
            'def Xform "Top"\n{\n def Cube "Foreign"\n {\n'
            f" double3 xformOp:translate = ({place[0]}, {place[1]}, {place[2]})\n"
            ' uniform token[] xformOpOrder = ["xformOp:translate"]\n }\n}\n',
            encoding="utf-8",
        )
        bench.port(USD).import_usd(str(bench.folder / "foreign.usda"), None)
        box = next(f["bounds"] for f in bench.everything() if f["name"] == "Foreign")
        here = 2 if other == "Y" else 1
        unit = info["units_per_meter"]
        # This is a 1 m cube whose center is 1.5 m above the ground.
        assert close([box["min"][here], box["max"][here]], [1.0 * unit, 2.0 * unit], 0.01)

    def test_a_bad_file_leaves_the_scene(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()
        deep = bench.folder / "deep.usda"
        deep.write_text("#usda 1.0\n" + 'def "a" {\n' * 5000 + "}\n" * 5000, encoding="utf-8")
        for path in [*_hostile(bench, ".usda"), str(bench.folder / "text.txt"), str(deep)]:
            raised(HostError, bench.port(USD).import_usd, path, None)
            raised(HostError, bench.port(USD).stage_metadata, path)
            assert bench.everything() == before, path
