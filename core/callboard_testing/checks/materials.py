"""Checks materials: their values, their textures, and the objects that have them."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    MATERIALS,
    SCENE_MUTATE,
    SCENE_READ,
    MaterialNotFound,
    ObjectNotFound,
)
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

#: A value for each property of a material. No host has any of these values as a default.
VALUES: Json = {
    "color": [0.25, 0.5, 0.125],
    "metalness": 0.75,
    "roughness": 0.25,
    "ior": 1.4,
    "emission": [1.0, 0.5, 0.25],
    "emission_strength": 4.0,
    "opacity": 0.5,
}
SLOTS = ("color", "metalness", "roughness", "emission", "opacity", "normal")
_READING = ("names", "get", "users", "assigned")


def picture(folder: Path, name: str = "picture.png") -> str:
    """Write a small picture file, and return its path."""
    rows = b"".join(b"\x00" + 4 * bytes((40, 60 * y, 128)) for y in range(4))
    body = zlib.compress(rows)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    size = struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)
    path = folder / name
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )
    return str(path)


def _make(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("materials__create", asked)["created"][0]
    return path


def _get(bench: Bench, name: str) -> Any:
    return bench.call("materials__get", {"name": name})


def _all(bench: Bench) -> list[Json]:
    """Return everything that is reported about the materials and the objects."""
    port = bench.port(MATERIALS)
    materials = [_get(bench, path) for path in port.names()]
    return [*materials, *bench.everything()]


def _same(asked: Any, actual: Any) -> bool:
    return close([asked], [actual]) if isinstance(asked, float) else close(asked, actual)


class Materials:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS)

    def test_a_new_one_looks_the_same_in_every_host(self, bench: Bench) -> None:
        made = _get(bench, _make(bench, name="Plain"))
        assert made["name"].startswith("Plain")
        assert close(made["color"], [0.8, 0.8, 0.8])
        plain = {"metalness": 0.0, "roughness": 0.5, "specular": 1.0, "ior": 1.5}
        for key, value in {**plain, "transmission": 0.0, "opacity": 1.0}.items():
            assert _same(value, made[key]), key
        assert (made["textures"], made["users"]) == ({}, [])

    def test_every_value_is_set_and_told(self, bench: Bench) -> None:
        path = _make(bench, name="Full", **VALUES)
        for key, value in VALUES.items():
            assert _same(value, _get(bench, path)[key]), key
        for key in ("specular", "transmission"):
            single = _make(bench, **{key: 0.5})
            assert _same(0.5, _get(bench, single)[key]), key

    def test_one_value_is_set_and_the_others_stay(self, bench: Bench) -> None:
        path = _make(bench, **VALUES)
        bench.call("materials__set", {"name": path, "roughness": 0.875})
        for key, value in {**VALUES, "roughness": 0.875}.items():
            assert _same(value, _get(bench, path)[key]), key

    def test_a_colour_is_written_as_on_a_screen_too(self, bench: Bench) -> None:
        made = _get(bench, _make(bench, color="#ff8000", emission="#fff"))
        assert close(made["color"], [1.0, 0.215861, 0.0])
        assert close(made["emission"], [1.0, 1.0, 1.0])
        assert _same(1.0, made["emission_strength"])
        before = _all(bench)
        for wrong in ("red", "#12", "#12345g", ""):
            raised(ValueError, bench.call, "materials__create", {"color": wrong})
        assert _all(bench) == before

    def test_what_others_share_changes_only_where_that_is_said(self, bench: Bench) -> None:
        one, two, three = bench.cube("One"), bench.cube("Two"), bench.cube("Three")
        path = _make(bench, name="Shared", color=[1, 0, 0], objects=[one, two, three])
        assert sorted(_get(bench, path)["users"]) == sorted([one, two, three])
        before = _all(bench)
        error = raised(ValueError, bench.call, "materials__set", {"name": path, "roughness": 0.1})
        assert "shared: true" in str(error)
        assert _all(bench) == before
        asked = {"name": path, "objects": [one], "color": [0, 1, 0]}
        copy = bench.call("materials__set", asked)["created"][0]
        assert (_get(bench, copy)["users"], _get(bench, path)["users"]) == ([one], [two, three])
        assert close(_get(bench, copy)["color"], [0, 1, 0])
        assert close(_get(bench, path)["color"], [1, 0, 0])
        bench.call("materials__set", {"name": path, "shared": True, "color": [0, 0, 1]})
        assert close(_get(bench, path)["color"], [0, 0, 1])
        assert close(_get(bench, copy)["color"], [0, 1, 0])

    def test_a_copy_of_an_object_can_have_another(self, bench: Bench) -> None:
        original = bench.cube("Original")
        first, second = _make(bench, objects=[original]), _make(bench)
        copy = bench.editor.duplicate(original, "Copy")
        bench.call("materials__assign", {"name": second, "objects": [copy]})
        assert list(bench.port(MATERIALS).assigned(copy)) == [second]
        assert bench.port(MATERIALS).assigned(original) == {first: None}

    def test_faces_can_have_one_of_their_own(self, bench: Bench) -> None:
        ring = bench.editor.create("torus", "Ring", {"major_radius": 2.0, "minor_radius": 0.5})
        whole, part = _make(bench, objects=[ring]), _make(bench)
        bench.call("materials__assign", {"name": part, "objects": [ring], "faces": [0, 2, 5]})
        assigned = bench.port(MATERIALS).assigned(ring)
        assert set(assigned) == {whole, part}
        assert sorted(assigned[part]) == [0, 2, 5]
        bench.call("materials__assign", {"name": whole, "objects": [ring], "faces": [2]})
        assert sorted(bench.port(MATERIALS).assigned(ring)[part]) == [0, 5]
        before = _all(bench)
        asked = {"name": part, "objects": [ring], "faces": [10**6]}
        raised(HostError, bench.call, "materials__assign", asked)
        assert _all(bench) == before
        bench.call("materials__assign", {"name": part, "objects": [ring]})
        assert list(bench.port(MATERIALS).assigned(ring)) == [part]

    def test_names_that_nothing_has_are_answered_with_the_nearest(self, bench: Bench) -> None:
        cube = bench.cube("Here")
        name = _get(bench, _make(bench, name="Copper"))["name"]
        before = _all(bench)
        error = raised(MaterialNotFound, bench.call, "materials__get", {"name": name + "x"})
        assert name in str(error)
        for asked in ({"name": "Coppre", "objects": [cube]}, {"name": name, "objects": ["Her"]}):
            raised((MaterialNotFound, ObjectNotFound), bench.call, "materials__assign", asked)  # type: ignore[arg-type]
        for name in ("", "/", "//", "a b/c", "|x", "é" * 300, "\x00", "*"):
            raised(MaterialNotFound, bench.port(MATERIALS).get, name)
        assert _all(bench) == before

    def test_the_list_says_who_has_them(self, bench: Bench) -> None:
        cube = bench.cube("Here")
        path = _make(bench, name="Listed", objects=[cube], color=[0.5, 0.25, 0.125])
        page = bench.call("materials__list", {"objects": [cube]})
        name = _get(bench, path)["name"]
        (listed,) = page["materials"]
        color = listed.pop("color")
        assert all(abs(a - b) < 2e-3 for a, b in zip(color, (0.5, 0.25, 0.125), strict=True))
        assert listed == {"name": name, "path": path, "users": [cube]}
        assert bench.call("materials__list", {"pattern": "listed*", "limit": 1})["total"] >= 1

    def test_each_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        one, two = bench.cube("One"), bench.cube("Two")
        path = _make(bench, name="Mine", objects=[one])
        other = _make(bench, name="Other", objects=[two])
        changes: list[tuple[str, Json]] = [
            ("create", {"name": "New", "roughness": 0.125, "objects": [two]}),
            ("set", {"name": path, "color": [0.5, 0, 0]}),
            ("assign", {"name": other, "objects": [one]}),
        ]
        for tool, asked in changes:
            check_change(
                bench, MATERIALS, _READING, f"materials__{tool}", asked, lambda: _all(bench)
            )


class Textures:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS, FILESYSTEM_READ)

    def test_every_slot_takes_a_picture(self, bench: Bench) -> None:
        path, file = _make(bench, **VALUES), picture(bench.folder)
        for slot in SLOTS:
            asked = {"name": path, "slot": slot, "path": file, "uv_scale": [2, 3]}
            bench.call("materials__set_texture", asked)
            there = _get(bench, path)["textures"][slot]
            assert Path(there["path"]).samefile(file), slot
            assert there["color_space"] == ("srgb" if slot in ("color", "emission") else "raw")
            assert close(there["uv_scale"], [2, 3]), slot
        textured = _get(bench, path)
        assert set(textured["textures"]) == set(SLOTS)
        assert textured["roughness"] is textured["color"] is None
        bench.call("materials__set", {"name": path, "roughness": 0.5})
        for slot in SLOTS:
            bench.call("materials__set_texture", {"name": path, "slot": slot, "path": None})
        assert _get(bench, path)["textures"] == {}

    def test_two_ways_to_read_one_picture_stay_two(self, bench: Bench) -> None:
        file = picture(bench.folder)
        for space in ("srgb", "raw"):
            asked = {"slot": "color", "path": file, "color_space": space}
            bench.call("materials__set_texture", {"name": _make(bench, name=space), **asked})
        for space in ("srgb", "raw"):
            listed = bench.call("materials__list", {"pattern": f"{space}*"})["materials"][-1]
            assert _get(bench, listed["path"])["textures"]["color"]["color_space"] == space

    def test_one_channel_drives_a_number(self, bench: Bench) -> None:
        path, file = _make(bench), picture(bench.folder)
        for channel in "grb":
            asked = {"name": path, "slot": "roughness", "path": file, "channel": channel}
            bench.call("materials__set_texture", asked)
            assert _get(bench, path)["textures"]["roughness"]["channel"] == channel
        with suppress(HostError):  # Not every shader reads a picture's alpha.
            bench.call("materials__set_texture", {**asked, "channel": "a"})
            assert _get(bench, path)["textures"]["roughness"]["channel"] == "a"
        asked = {"name": path, "slot": "color", "path": file, "channel": "r"}
        raised(ValueError, bench.call, "materials__set_texture", asked)

    def test_what_is_no_picture_is_refused(self, bench: Bench) -> None:
        path = _make(bench)
        text = bench.folder / "notes.txt"
        text.write_text("no picture", encoding="utf-8")
        before = _all(bench)
        for file in (str(text), str(bench.folder / "missing.png"), str(bench.folder)):
            asked = {"name": path, "slot": "color", "path": file}
            raised((HostError, ValueError), bench.call, "materials__set_texture", asked)  # type: ignore[arg-type]
        assert _all(bench) == before

    def test_the_change_is_one_step_read_back_and_rolled_back(self, bench: Bench) -> None:
        asked = {"name": _make(bench), "slot": "normal", "path": picture(bench.folder)}
        check_change(
            bench, MATERIALS, _READING, "materials__set_texture", asked, lambda: _all(bench)
        )


class SavedMaterials:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS, FILESYSTEM_READ, FILESYSTEM_WRITE)

    def test_they_are_in_the_file(self, bench: Bench) -> None:
        """The file must also contain the materials' textures, and materials that no object uses."""
        ring = bench.editor.create("torus", "Ring", {"major_radius": 2.0, "minor_radius": 0.5})
        made = [_make(bench, name="Whole", objects=[ring], **VALUES), _make(bench, name="Spare")]
        part = _make(bench, name="Part")
        bench.call("materials__assign", {"name": part, "objects": [ring], "faces": [1, 2]})
        asked = {"slot": "color", "path": picture(bench.folder), "uv_scale": [4, 1]}
        bench.call("materials__set_texture", {"name": made[1], **asked})
        before = [_get(bench, path) for path in (*made, part)]
        faces = bench.port(MATERIALS).assigned(ring)
        file = str(bench.folder / f"looks{bench.port(FILESYSTEM_WRITE).suffixes[0]}")
        bench.call("scene__save_file", {"path": file})
        bench.call("scene__open_file", {"path": file, "discard_changes": True})
        assert [_get(bench, path) for path in (*made, part)] == before
        assert bench.port(MATERIALS).assigned(ring) == faces
