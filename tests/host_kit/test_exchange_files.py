"""The facts that are read from other programs' files before an application opens them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.ground.written_files import put_in_place
from callboard.host_kit.exchange_files import (
    check_file,
    fbx_axes,
    gltf_bytes,
    gltf_parts,
    named_in,
)
from callboard.ports.exchange import Axes, FileFormat, format_of

_ENTRY = 'P: "{}", "{}", "{}", "",{}\n'


def _text(name: str, kind: str, word: str) -> bytes:
    return (
        b"S"
        + struct.pack("<I", len(name))
        + name.encode()
        + b"".join(b"S" + struct.pack("<I", len(each)) + each.encode() for each in (kind, word, ""))
    )


@pytest.mark.parametrize(
    ("unit", "up", "told"),
    [(1.0, 1, (0.01, "Y")), (100.0, 2, (1.0, "Z")), (2.54, 1, (0.0254, "Y"))],
)
def test_an_fbx_says_its_units(
    tmp_path: Path, unit: float, up: int, told: tuple[float, str]
) -> None:
    binary, text = tmp_path / "binary.fbx", tmp_path / "text.fbx"
    binary.write_bytes(
        b"Kaydara FBX Binary  \0"
        + _text("UpAxis", "int", "Integer")
        + b"I"
        + struct.pack("<i", up)
        + _text("UnitScaleFactor", "double", "Number")
        + b"D"
        + struct.pack("<d", unit)
    )
    text.write_text(
        "; FBX 7.4.0 project file\n"
        + _ENTRY.format("UpAxis", "int", "Integer", up)
        + _ENTRY.format("UnitScaleFactor", "double", "Number", unit),
        encoding="utf-8",
    )
    for file in (binary, text):
        axes = fbx_axes(str(file))
        assert (axes.meters_per_unit, axes.up_axis) == (pytest.approx(told[0]), told[1])
        assert axes.stated


def test_an_fbx_that_says_nothing_is_taken_for_centimetres(tmp_path: Path) -> None:
    file = tmp_path / "plain.fbx"
    file.write_bytes(b"Kaydara FBX Binary  \0")
    assert fbx_axes(str(file)) == Axes(0.01, "Y", stated=False)


def test_a_glb_is_taken_apart_and_put_together() -> None:
    described = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 3}]}
    assert gltf_parts(gltf_bytes(described, b"abc", ".glb"), "x") == (described, b"abc\0")
    assert gltf_parts(gltf_bytes(described, b"", ".glb"), "x") == (described, b"")


@pytest.mark.parametrize(
    "data", [b"", b"glTF", b"glTF" + bytes(16), b"[]", b'{"asset": 1}', b"\xff\xfe", b"[" * 9999]
)
def test_what_is_no_gltf_is_refused(data: bytes) -> None:
    with pytest.raises(HostError, match="can't be read as a glTF"):
        gltf_parts(data, "x.gltf")


def test_the_files_that_a_gltf_and_an_obj_name(tmp_path: Path) -> None:
    uris = ["a%20b.bin", "data:,x", "deep/c.png", 7]
    entries = [*({"uri": each} for each in uris), 5, {}]
    described = {"asset": {"version": "2.0"}, "buffers": entries, "images": "none"}
    (tmp_path / "x.gltf").write_text(json.dumps(described), encoding="utf-8")
    named = named_in(str(tmp_path / "x.gltf"))
    assert {tmp_path / "a b.bin", tmp_path / "deep" / "c.png"} <= {*map(Path, named)}
    (tmp_path / "two words.mtl").write_text("newmtl A\nmap_Kd -s 1 1 1 my paint.png\n", "utf-8")
    (tmp_path / "x.obj").write_text("mtllib two words.mtl\nv 0 0 0\n", encoding="utf-8")
    named = named_in(str(tmp_path / "x.obj"))
    assert {tmp_path / "two words.mtl", tmp_path / "my paint.png"} <= {*map(Path, named)}


@pytest.mark.parametrize(
    "line",
    [
        b"mtllib\t../out/x.mtl",
        b"\x01mtllib ../out/x.mtl",
        b"mtllib \\\n../out/x.mtl",
        b"mtllib \\ \r\n  ../out/x.mtl",
        b'mtllib "../out/x.mtl"',
        b"\xef\xbb\xbfmtllib ../out/x.mtl",
        b"v 0 0 0\rmtllib ../out/x.mtl\rv 1 1 1",
        b"mtllib ..\\out\\x.mtl",
    ],
)
def test_a_library_is_found_however_an_obj_names_it(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.obj").write_bytes(line + b"\nv 0 0 0\n")
    named = named_in(str(tmp_path / "in" / "x.obj"))
    assert str(tmp_path / "out" / "x.mtl") in named


def test_the_library_of_an_obj_s_own_name_is_read_unasked(tmp_path: Path) -> None:
    (tmp_path / "x.obj").write_text("v 0 0 0\n", encoding="utf-8")
    (tmp_path / "x.mtl").write_text('bump\t-bm 1 "own paint.png"\n', encoding="utf-8")
    named = named_in(str(tmp_path / "x.obj"))
    assert {str(tmp_path / "x.mtl"), str(tmp_path / "own paint.png")} <= {*named}


def test_a_line_of_endless_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.obj").write_text("v 0 0 0\n", encoding="utf-8")
    (tmp_path / "x.mtl").write_text("map_Kd" + " x" * 500_000, encoding="utf-8")
    with pytest.raises(HostError, match="more than 100 words"):
        named_in(str(tmp_path / "x.obj"))


def test_a_uri_that_only_begins_like_data_names_a_file(tmp_path: Path) -> None:
    """Applications open the file, because they check the rest of the URI too."""
    described = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "data:x/../../out.bin"}, {"uri": "data:a;base64,AAAA"}],
    }
    file = tmp_path / "in" / "x.gltf"
    file.parent.mkdir()
    file.write_text(json.dumps(described), encoding="utf-8")
    assert str(tmp_path / "out.bin") in named_in(str(file))
    assert not any("base64" in each for each in named_in(str(file)))


@pytest.mark.parametrize("unit", ["1e+-", "nan", "-1", "0", "9" * 400, "1e999"])
def test_an_fbx_with_a_unit_that_is_none_is_taken_for_centimetres(
    tmp_path: Path, unit: str
) -> None:
    file = tmp_path / "x.fbx"
    up = _ENTRY.format("UpAxis", "int", "Integer", "1" * 5000)
    entry = _ENTRY.format("UnitScaleFactor", "double", "Number", unit)
    file.write_text(f"; FBX\n{up}{entry}", encoding="utf-8")
    assert fbx_axes(str(file)) == Axes(0.01, "Y", stated=False)


def test_a_file_is_what_its_name_says(tmp_path: Path) -> None:
    good = {
        "a.stl": b"solid a\nendsolid a\n",
        "b.stl": bytes(80) + struct.pack("<I", 1) + bytes(50),
        "a.ply": b"ply\nformat ascii 1.0\n",
        "a.obj": b"v 0 0 0\n",
        "a.abc": b"Ogawa\xff",
        "a.fbx": b"; FBX 6",
    }
    for name, data in good.items():
        (tmp_path / name).write_bytes(data)
        check_file(str(tmp_path / name))
    bad = {
        "c.stl": bytes(80) + struct.pack("<I", 9) + bytes(50),
        "c.ply": b"PNG",
        "c.obj": b"\0\1",
        "c.abc": b"Ogaw",
        "c.fbx": b"",
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(HostError, match="isn't really a"):
            check_file(str(tmp_path / name))


def test_a_format_is_found_by_its_suffix_or_refused_with_why() -> None:
    formats = [
        FileFormat("obj", (".obj",), (".obj",)),
        FileFormat("fbx", (), (), missing="It's off"),
    ]
    assert format_of("/a/B.OBJ", formats, write=True).name == "obj"
    with pytest.raises(HostError, match=r"It's off; this host reads \.obj"):
        format_of("/a/b.fbx", formats, write=False)
    with pytest.raises(HostError, match=r"this host writes \.obj"):
        format_of("/a/b.max", formats, write=True)


def test_all_files_take_their_places_or_none(tmp_path: Path) -> None:
    made, target = tmp_path / "made", tmp_path / "target"
    made.mkdir()
    target.mkdir()
    (made / "x.obj").write_text("new", encoding="utf-8")
    (made / "x.mtl").write_text("new", encoding="utf-8")
    (target / "x.mtl").write_text("old", encoding="utf-8")
    (target / "x.obj").mkdir()
    with pytest.raises(HostError, match="is a folder"):
        put_in_place(made / "x.obj", str(target / "x.obj"))
    assert (target / "x.mtl").read_text("utf-8") == "old"
    (target / "x.obj").rmdir()
    files = put_in_place(made / "x.obj", str(target / "x.obj"))
    assert files == [str(target / "x.obj"), str(target / "x.mtl")]
    assert (target / "x.mtl").read_text("utf-8") == "new"
