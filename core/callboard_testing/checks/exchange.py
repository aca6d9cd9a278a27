"""Checks files from other programs. An object that is exported and imported again must be
unchanged, whatever units the program uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.png import Picture, encode
from callboard.host import (
    EXCHANGE,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    MATERIALS,
    SCENE_MUTATE,
    SCENE_READ,
)
from callboard.ports.exchange import SUFFIXES, UNSTATED
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_READING = ("formats", "without_uvs")
_NOISE = bytes(range(256)) * 16


def _formats(bench: Bench) -> dict[str, Json]:
    offered = bench.call("exchange__formats")["formats"]
    return {each["format"]: each for each in offered}


def _round_trips(bench: Bench) -> Iterator[tuple[str, Path]]:
    """Yield the format and a file for each suffix that is both written and read."""
    for name, each in _formats(bench).items():
        for suffix in each["export"]:
            if suffix in each["import"]:
                yield name, bench.folder / f"of {name}{suffix}"


def _box(bench: Bench) -> list[float]:
    """Return the box around everything in the scene."""
    boxes = [each["bounds"] for each in bench.everything() if each["bounds"] is not None]
    low = [min(box["min"][n] for box in boxes) for n in range(3)]
    return [*low, *(max(box["max"][n] for box in boxes) for n in range(3))]


def _place(bench: Bench) -> str:
    cube = bench.cube("Crate")
    bench.editor.set_transform(cube, [1, 2, 3], None, [1, 2, 0.5])
    return cube


def _mesh(bench: Bench) -> str | None:
    """Import a mesh without UVs, and return its path, or None if the host reads no suitable
    format."""
    kinds = _formats(bench)
    if ".usda" in kinds["usd"]["import"]:
        file = bench.folder / "plain.usda"
        file.write_text(
            '#usda 1.0\n(\n upAxis = "Y"\n)\ndef Mesh "Plain"\n{\n int[] faceVertexCounts = [3]\n'
            " int[] faceVertexIndices = [0, 1, 2]\n"
            " point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n",
            encoding="utf-8",
        )
    elif ".obj" in kinds["obj"]["import"]:
        file = bench.folder / "plain.obj"
        file.write_text("o Plain\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    else:
        return None
    answer = bench.call("exchange__import", {"path": str(file)})
    (missing,) = answer["without_uvs"]
    return str(missing)


class ExchangedFiles:
    needs = (SCENE_READ, SCENE_MUTATE, EXCHANGE, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_every_format_is_told_with_what_is_missing(self, bench: Bench) -> None:
        reported = _formats(bench)
        assert [*reported] == [*SUFFIXES]
        for name, each in reported.items():
            assert {*each["import"], *each["export"]} <= {*SUFFIXES[name]}
            if not each["import"] or not each["export"]:
                assert len(each["missing"]) > 20, name
            else:
                assert each["meters_per_unit"] > 0
                assert each["says_units"] is (name not in UNSTATED)

    def test_what_is_exported_comes_back_where_it_was(self, bench: Bench) -> None:
        pairs = list(_round_trips(bench))
        assert pairs, "no format is both written and read"
        for name, file in pairs:
            bench.empty()
            _place(bench)
            before = _box(bench)
            written = bench.call("exchange__export", {"path": str(file)})
            assert written["files"][0] == str(file)
            sizes = [Path(each).stat().st_size for each in written["files"]]
            assert written["bytes"] == sum(sizes)
            assert {Path(each) for each in written["files"]} <= {*bench.folder.iterdir()}
            bench.empty()
            read = bench.call("exchange__import", {"path": str(file)})
            assert sorted(read["created"]) == sorted(bench.reader.names())
            assert close(_box(bench), before, 0.01), file.name
            assert close([read["meters_per_unit"]], [written["meters_per_unit"]]), file.name
            assert read["up_axis"] == written["up_axis"], file.name
            assert read.get("assumed", False) is (name in UNSTATED)

    def test_only_the_named_objects_are_exported_with_what_is_below(self, bench: Bench) -> None:
        for _, file in list(_round_trips(bench)):
            bench.empty()
            bench.cube("Wanted")
            bench.cube("Below")
            bench.editor.set_transform("Below", [0, 5, 0], None, None)
            bench.editor.set_parent("Below", "Wanted", True)
            before = _box(bench)
            bench.cube("Unwanted", 99.0)
            bench.editor.select(["Unwanted"])
            kept = bench.everything()
            bench.call("exchange__export", {"path": str(file), "objects": ["Wanted"]})
            assert bench.everything() == kept
            selected = [bench.get(each)["name"] for each in bench.reader.selection()]
            assert selected == ["Unwanted"]
            bench.empty()
            bench.call("exchange__import", {"path": str(file)})
            assert close(_box(bench), before, 0.01), file.name

    def test_what_is_imported_is_below_its_parent(self, bench: Bench) -> None:
        for _, file in list(_round_trips(bench)):
            bench.empty()
            bench.cube("Thing")
            bench.call("exchange__export", {"path": str(file)})
            bench.empty()
            group = bench.cube("Group")
            asked = {"path": str(file), "parent": "Group"}
            created = bench.call("exchange__import", asked)["created"]
            tops = [each for each in created if bench.get(each)["parent"] not in created]
            assert tops
            assert all(bench.get(top)["parent"] == group for top in tops), file.name

    def test_units_are_said_of_files_that_say_none(self, bench: Bench) -> None:
        unit = bench.reader.info()["units_per_meter"]
        up = bench.reader.info()["up_axis"]
        for name, file in list(_round_trips(bench)):
            fixed = _formats(bench)[name].get("fixed_units", False)
            counting: Json = {"meters_per_unit": 0.5}
            asked = {"path": str(file), **counting}
            bench.empty()
            bench.cube("Crate", 1.0)
            if name not in UNSTATED:
                raised(ValueError, bench.call, "exchange__export", asked)
                assert not file.exists()
                continue
            if fixed:
                raised(ValueError, bench.call, "exchange__export", asked)
                assert not file.exists()
                counting = {"meters_per_unit": _formats(bench)[name]["meters_per_unit"]}
            bench.call("exchange__export", {"path": str(file), **counting})
            bench.empty()
            ten_times = 10 * counting["meters_per_unit"]
            bench.call("exchange__import", {"path": str(file), "meters_per_unit": ten_times})
            low, high = _box(bench)[0], _box(bench)[3]
            assert close([high - low], [10.0], 0.01), file.name
            if name == "alembic" or fixed:
                continue
            bench.empty()
            bench.editor.create("plane", None, {"width": unit, "depth": unit})
            other = "Z" if up == "Y" else "Y"
            bench.call("exchange__export", {"path": str(file), "up_axis": up})
            bench.empty()
            bench.call("exchange__import", {"path": str(file), "up_axis": other})
            # The plane was flat. If the file is read with a different up axis, the plane is
            # upright.
            along = "XYZ".index(up)
            assert _box(bench)[3 + along] - _box(bench)[along] > 0.9 * unit, file.name

    def test_a_bad_file_leaves_the_scene(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()
        suffixes = {*chain.from_iterable(SUFFIXES.values())}
        for suffix in sorted(suffixes):
            contents = {"empty": b"", "noise": _NOISE, "zeros": bytes(2000)}
            for word, data in contents.items():
                (bench.folder / f"{word}{suffix}").write_bytes(data)
            (bench.folder / f"folder{suffix}").mkdir()
            for word in (*contents, "folder", "missing"):
                path = str(bench.folder / f"{word}{suffix}")
                raised(HostError, bench.call, "exchange__import", {"path": path})
                assert bench.everything() == before, path
        raised(HostError, bench.call, "exchange__import", {"path": str(bench.folder / "a.txt")})
        text = bench.folder / "text.gltf"
        for content in ('{"asset": 1}', "[1]", "{", '{"a":' * 9000):
            text.write_text(content, encoding="utf-8")
            raised(HostError, bench.call, "exchange__import", {"path": str(text)})
            assert bench.everything() == before, content[:20]

    def test_a_place_that_can_not_be_written_is_an_error(self, bench: Bench) -> None:
        bench.cube("Here")
        for _, file in list(_round_trips(bench)):
            place = bench.folder / f"folder{file.suffix}"
            place.mkdir()
            nowhere = bench.folder / "nowhere" / file.name
            for path in (place, nowhere, bench.folder / "scene.txt"):
                raised(HostError, bench.call, "exchange__export", {"path": str(path)})
            raised(
                (HostError, LookupError),  # type: ignore[arg-type]
                bench.call,
                "exchange__export",
                {"path": str(file), "objects": ["Nobody"]},
            )
            assert [*bench.folder.iterdir()] == [place]
            place.rmdir()

    def test_an_import_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        bench.cube("Thing")
        files = [file for _, file in _round_trips(bench)]
        for file in files:
            bench.call("exchange__export", {"path": str(file)})
        for file in files:
            check_change(
                bench,
                EXCHANGE,
                _READING,
                "exchange__import",
                {"path": str(file)},
                bench.everything,
            )


class ExchangedTextures:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS, EXCHANGE, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_missing_uvs_are_said_before_an_export(self, bench: Bench) -> None:
        mesh = _mesh(bench)
        if mesh is None:
            return
        kinds = _formats(bench)
        suffixes = [*kinds["gltf"]["export"], *kinds["usd"]["export"]]
        if not suffixes:
            return
        file = bench.folder / f"painted{suffixes[0]}"
        asked = {"path": str(file), "objects": [mesh]}
        assert bench.call("exchange__export", asked)["without_uvs"] == [mesh]
        file.unlink()
        picture = bench.folder / "red.png"
        picture.write_bytes(encode(Picture(1, 1, bytes((255, 0, 0)))))
        (paint,) = bench.call("materials__create", {"name": "Paint", "objects": [mesh]})["created"]
        painted = {"name": paint, "slot": "color", "path": str(picture)}
        bench.call("materials__set_texture", painted)
        error = raised(HostError, bench.call, "exchange__export", asked)
        assert mesh in str(error)
        assert not file.exists()
        answer = bench.call("exchange__export", {**asked, "allow_missing_uvs": True})
        assert answer["without_uvs"] == [mesh]
        assert file.stat().st_size > 0

    def test_a_gltf_holds_its_textures(self, bench: Bench) -> None:
        if not _formats(bench)["gltf"]["export"]:
            return
        source = bench.folder / "plain.obj"
        source.write_text(
            "o Plain\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n",
            encoding="utf-8",
        )
        (plain,) = bench.call("exchange__import", {"path": str(source)})["created"]
        picture = bench.folder / "red.png"
        picture.write_bytes(encode(Picture(1, 1, bytes((255, 0, 0)))))
        (paint,) = bench.call("materials__create", {"name": "Paint", "objects": [plain]})["created"]
        painted = {"name": paint, "slot": "color", "path": str(picture)}
        bench.call("materials__set_texture", painted)
        file = bench.folder / "plain.gltf"
        answer = bench.call("exchange__export", {"path": str(file)})
        assert answer["files"] == [str(file)]
        assert "without_uvs" not in answer
        described = json.loads(file.read_text("utf-8"))
        assert described["images"]
        assert all(each["uri"].startswith("data:") for each in described["buffers"])
        assert {*bench.folder.iterdir()} == {file, picture, source}
