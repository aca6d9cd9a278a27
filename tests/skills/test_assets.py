"""The skill ``assets`` on a complete server: the folders that it searches, and those that it may
not search."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from serving import served

HDR = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n" + bytes((128, 128, 128, 129))


def _hdri(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(HDR)


def test_it_looks_below_the_first_root(tmp_path: Path) -> None:
    _hdri(tmp_path / "project" / "assets" / "skies", "noon_2k.hdr")
    roots = [str(tmp_path / "project")]
    with served(skills=True, roots=roots) as server, server.client() as client:
        answer = client.call("assets__search")["structuredContent"]
        assert [one["id"] for one in answer["assets"]] == ["skies/noon_2k.hdr"]
        assert answer["assets"][0]["name"] == "noon"
        got = client.call("assets__get", {"id": "skies/noon_2k.hdr"})["structuredContent"]
        assert got["bytes"] == len(HDR)
    with served(skills=True) as server, server.client() as client:
        refused = client.call("assets__search")
        assert refused["isError"]
        assert "give the folder" in refused["content"][0]["text"]


def test_a_preview_of_its_own_counts_more_than_the_folders(tmp_path: Path) -> None:
    library = tmp_path / "project" / "assets"
    for name in ("noon_2k.hdr", "zenith.hdr"):
        _hdri(library, name)
    for name in ("preview.png", "zenith.png"):
        (library / name).write_bytes(b"")
    roots = [str(tmp_path / "project")]
    with served(skills=True, roots=roots) as server, server.client() as client:
        for id, preview in (("noon_2k.hdr", "preview.png"), ("zenith.hdr", "zenith.png")):
            told = client.call("assets__get", {"id": id})["structuredContent"]
            assert Path(told["preview"]).name == preview


def test_what_is_odd_is_told_and_hides_nothing_else(tmp_path: Path) -> None:
    library = tmp_path / "project" / "assets"
    library.mkdir(parents=True)
    # The library's texture sets don't become part of a model that is next to the library.
    (tmp_path / "project" / "shot.usda").write_text("#usda 1.0\n")
    _hdri(library / "far", "noon.hdr")
    told = {"kind": "hdri", "hdri": "noon.hdr", "size": 10**400}
    (library / "far" / "asset.json").write_text(json.dumps(told))
    for map in ("diff", "rough"):
        (library / f"wood_{map}.png").write_bytes(b"")
    roots = [str(tmp_path / "project")]
    with served(skills=True, roots=roots) as server, server.client() as client:
        answer = client.call("assets__search")["structuredContent"]
        kinds = {one["id"]: (one["kind"], one["size"]) for one in answer["assets"]}
        assert kinds == {"far": ("hdri", None), "wood": ("textures", None)}
        refused = client.call("assets__get", {"id": "fa\0r"})
        assert "List them with assets__search" in refused["content"][0]["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_an_asset_json_that_is_no_file_of_its_folder_is_not_read(tmp_path: Path) -> None:
    library = tmp_path / "project" / "assets"
    (library / "pipe").mkdir(parents=True)
    os.mkfifo(library / "pipe" / "asset.json")
    _hdri(library / "link", "noon.hdr")
    told = {"kind": "hdri", "hdri": "noon.hdr", "name": "secret"}
    (tmp_path / "told.json").write_text(json.dumps(told))
    (library / "link" / "asset.json").symlink_to(tmp_path / "told.json")
    roots = [str(tmp_path / "project")]
    with served(skills=True, roots=roots) as server, server.client() as client:
        answer = client.call("assets__search")["structuredContent"]
        assert answer["assets"] == []
        assert len(answer["problems"]) == 2


def test_it_stays_below_the_roots(tmp_path: Path) -> None:
    _hdri(tmp_path / "outside", "secret.hdr")
    inside = tmp_path / "project" / "assets"
    _hdri(inside, "noon.hdr")
    (inside / "away").symlink_to(tmp_path / "outside", target_is_directory=True)
    (inside / "link.hdr").symlink_to(tmp_path / "outside" / "secret.hdr")
    roots = [str(tmp_path / "project")]
    strict = served(skills=True, roots=roots, roots_policy="strict")
    with strict as server, server.client() as client:
        for folder in (str(tmp_path / "outside"), "assets/away", "../outside"):
            arguments = {"name": "assets__search", "arguments": {"folder": folder}}
            assert client.request("tools/call", arguments)["error"]["code"] == -32602
        answer = client.call("assets__search")["structuredContent"]
        assert not [one for one in answer["assets"] if one["id"].startswith("away")]
        assert "link.hdr" not in [one["id"] for one in answer["assets"]]
        for id in ("away/secret.hdr", "link.hdr"):
            assert client.call("assets__get", {"id": id})["isError"], id
