"""The workspace's files, as an agent finds and reads them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from server_bundles import skill_bundle

from callboard.bundles.installed.install_folders import PROVIDED, user_bundles
from serving import served, text_of
from stateless_client import Stateless

READER = """
from callboard.extensions import host


async def main(ctx, uri):
    return {"text": (await host(ctx).read(uri)).contents[0].text}
"""


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "notes.md").write_text("# Grüße", encoding="utf-8")
    (folder / "sub dir" / "hero.usdc").write_bytes(b"PXR\x00\xff")
    (folder / "sub dir" / "hero.usdc.tags").write_text("character\napproved\n")
    return folder


def test_an_agent_lists_and_reads_and_the_uris_stay(project: Path) -> None:
    with served(skills=True, roots=[str(project)]) as running, running.client() as client:
        listed = client.call("files__list")["structuredContent"]
        notes, hero = listed["files"]
        assert listed["total"] == 2
        assert (notes["name"], notes["mimeType"], notes["size"]) == ("notes.md", "text/markdown", 9)
        assert notes["path"] == "workspace://notes.md"
        assert hero["path"] == "workspace://sub%20dir/hero.usdc"
        assert hero["tags"] == ["approved", "character"]
        (block,) = client.call("files__read", {"uri": notes["uri"]})["content"]
        assert block["resource"] == {
            "uri": notes["uri"],
            "mimeType": "text/markdown",
            "text": "# Grüße",
        }
    with served(skills=True, roots=[str(project)]) as running:
        alone = Stateless(running.client())
        (read,) = alone.request("resources/read", {"uri": hero["uri"]})["result"]["contents"]
        assert base64.b64decode(read["blob"]) == b"PXR\x00\xff"
        assert read["mimeType"] == "model/vnd.usdc"


def test_files_are_found_by_name_kind_and_tags(project: Path) -> None:
    with served(skills=True, roots=[str(project)]) as running, running.client() as client:

        def names(**wanted: object) -> list[str]:
            listed = client.call("files__list", dict(wanted))["structuredContent"]
            return [file["name"] for file in listed["files"]]

        assert names(name="*.md") == ["notes.md"]
        assert names(mime_type="model/vnd.usdc") == ["hero.usdc"]
        assert names(tags=["approved"]) == ["hero.usdc"]
        assert names(tags=["approved", "prop"]) == []
        short = client.call("files__list", {"limit": 1})["structuredContent"]
        assert short["total"] == 2
        assert "1 more" in short["note"]


def test_a_bundle_is_handed_the_uri_that_the_agent_found(project: Path, tmp_path: Path) -> None:
    user_bundles().install(skill_bundle(tmp_path, READER), PROVIDED)
    with served(skills=True, roots=[str(project)]) as running, running.client() as client:
        (notes,) = client.call("files__list", {"name": "notes.md"})["structuredContent"]["files"]
        read = client.call("reader__run", {"uri": notes["uri"]})
        assert read["structuredContent"] == {"text": "# Grüße"}


def test_each_client_sees_its_own_roots_and_no_others(project: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "secret.txt").write_text("theirs")
    answer = {"roots": [{"uri": (tmp_path / "theirs").as_uri()}]}
    with (
        served(skills=True) as running,
        running.client({"roots": {}}, {"roots/list": lambda params: answer}) as them,
        running.client() as nobody,
    ):
        (secret,) = them.call("files__list")["structuredContent"]["files"]
        assert secret["name"] == "secret.txt"
        refused = nobody.request("resources/read", {"uri": secret["uri"]})
        assert refused["error"]["code"] == -32002
        nothing = nobody.call("files__list")["structuredContent"]
        assert nothing["files"] == []
        assert "no workspace" in nothing["note"]
        assert "see files__list" in text_of(nobody.call("files__read", {"uri": secret["uri"]}))


def test_what_the_artist_withdrew_is_listed_as_missing_and_refused(project: Path) -> None:
    config = {"roots": [str(project)], "deny": ["filesystem.read"]}
    with served(skills=True, **config) as running, running.client() as client:
        listed = client.request("tools/call", {"name": "files__list", "arguments": {}})
        assert listed["error"]["code"] == -32001
        read = client.request("resources/read", {"uri": "files://fl_" + "0" * 24})
        assert read["error"]["code"] == -32001
