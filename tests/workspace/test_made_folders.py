"""A folder below a root is created when a file is written into it. No other folder is created."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callboard.content import Json
from callboard.ground.atomic_write import replacing_bytes
from callboard.workspace.containment import Root, parse_root
from callboard_testing.fake_client import FakeClient
from serving import served, text_of

PATH = {"type": "object", "properties": {"path": {"type": "string", "format": "workspace-path"}}}
links = pytest.mark.skipif(os.name == "nt", reason="making links needs a special right on Windows")


def write(path: str) -> str:
    with replacing_bytes(path) as file:
        file.write(b"written")
    return path


@contextmanager
def writing(*roots: str | Root, policy: str = "advisory") -> Iterator[FakeClient]:
    """Yield a client of a server that has the tools that ship, and one tool that writes as the
    hosts' own tools do."""
    with served(skills=True, roots=list(roots), roots_policy=policy) as server:
        server.tool("write", write, PATH, required_capabilities=("filesystem.write",))
        with server.client() as client:
            yield client


def refusal(client: FakeClient, path: str, tool: str = "write") -> str:
    """Return the error's text, or an empty string if there is none."""
    answer: Json = client.request("tools/call", {"name": tool, "arguments": {"path": path}})
    if "error" in answer:
        return str(answer["error"]["message"])
    return text_of(answer["result"]) if answer["result"]["isError"] else ""


@pytest.mark.parametrize("tool", ["write", "scene__save_file", "usd__export_usd"])
def test_missing_folders_below_a_root_are_made(tool: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with writing(str(root), policy="strict") as client:
        for number, path in enumerate(
            ["shots/010/a.json", "workspace://other/deep/er/a.json", str(root / "abs" / "a.json")]
        ):
            if tool == "usd__export_usd":
                path = path.replace(".json", ".usda")
            assert refusal(client, path, tool) == "", number
    suffix = "usda" if tool == "usd__export_usd" else "json"
    written = sorted(str(path.relative_to(root)) for path in root.rglob(f"*.{suffix}"))
    names = ["abs/a", "other/deep/er/a", "shots/010/a"]
    assert written == [os.path.normpath(f"{name}.{suffix}") for name in names]


@pytest.mark.parametrize("tool", ["write", "scene__save_file", "usd__export_usd"])
def test_a_folder_outside_the_roots_is_never_made(tool: str, tmp_path: Path) -> None:
    root, beside = tmp_path / "root", tmp_path / "beside"
    root.mkdir()
    suffix = "usda" if tool == "usd__export_usd" else "json"
    with writing(str(root)) as client:
        told = refusal(client, str(beside / f"a.{suffix}"), tool)
        assert f"'{beside}' is outside of the roots" in told
        assert f"below one: '{root}'. Write to workspace://" in told
        assert "exist" not in told
        assert "leaves the workspace" in refusal(client, f"../beside/a.{suffix}", tool)
    assert not beside.exists()


def test_without_roots_the_folder_has_to_be_there(tmp_path: Path) -> None:
    with writing() as client:
        told = refusal(client, str(tmp_path / "beside" / "a.json"))
    assert "create it first, or write below a workspace root" in told


def test_a_root_itself_is_never_made(tmp_path: Path) -> None:
    root = tmp_path / "gone"
    with writing(str(root)) as client:
        assert "is gone" in refusal(client, "shots/a.json")
    assert not root.exists()


def test_nothing_is_made_in_a_read_only_root(tmp_path: Path) -> None:
    with writing(parse_root(str(tmp_path), read_only=True)) as client:
        assert "read-only" in refusal(client, "shots/a.json")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_made_where_a_file_is_only_read(tmp_path: Path) -> None:
    with writing(str(tmp_path)) as client:
        assert "can't read the file" in refusal(client, "shots/a.json", "scene__open_file")
    assert list(tmp_path.iterdir()) == []


@links
def test_no_folder_is_made_through_a_link_that_leaves(tmp_path: Path) -> None:
    root, beside = tmp_path / "root", tmp_path / "beside"
    root.mkdir()
    beside.mkdir()
    (root / "out").symlink_to(beside)
    with writing(str(root)) as client:
        assert "leaves the workspace" in refusal(client, "out/shots/a.json")
        assert refusal(client, str(root / "out" / "shots" / "a.json")) != ""
    assert list(beside.iterdir()) == []


@links
def test_a_folder_is_made_through_a_link_that_stays(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    with writing(str(tmp_path)) as client:
        assert refusal(client, "link/shots/a.json") == ""
    assert (tmp_path / "here" / "shots" / "a.json").read_bytes() == b"written"


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "shots").write_text("no folder")
    with writing(str(tmp_path)) as client:
        assert "can't be made" in refusal(client, "shots/010/a.json")
    assert (tmp_path / "shots").read_text() == "no folder"
