"""Resources of skills are listed, read, refused and watched, as a client and a TD see them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serving import Served, served
from skills.skill_tree import write_files, write_skill

BLOCK = "tools: tools.yaml\nresources: resources.yaml"
FILES = {
    "tools.yaml": """\
        tools:
        - name: publish
          description: d
          affinity: any
          required_capabilities: [scene.read]
        """,
    "resources.yaml": """\
        resources:
        - name: naming
          uri: studio://naming
          description: How assets are named.
          file: docs/naming.md
        - name: shot
          uri: studio://shots/{show}/{shot}
          description: Frames of a shot.
          mime_type: application/json
          source_file: scripts/read.py
          affinity: any
        - name: largest
          uri: studio://largest
          description: The first object.
          source_file: scripts/read.py
          required_capabilities: [scene.read]
        """,
    "docs/naming.md": "Props begin with prop_.\n",
    "scripts/read.py": """\
        from _common import FRAMES
        def shot(show, shot):
            if (show, shot) in FRAMES:
                return {"frames": FRAMES[show, shot]}
        def largest(ctx):
            return ", ".join(ctx.port("scene.read").names()) or "nothing"
        """,
    "scripts/_common.py": "FRAMES = {('a b', 'sh010'): 24}\n",
    "scripts/publish.py": """\
        from _common import FRAMES
        def main(ctx, show, shot, frames):
            FRAMES[show, shot] = frames
            ctx.resource_updated(f"studio://shots/{show}/{shot}")
        """,
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return write_skill(tmp_path / "skills", "studio", block=BLOCK, files=FILES)


@pytest.fixture
def running(skill: Path) -> Iterator[Served]:
    with served(skills=True, skill_paths=[skill]) as running:
        yield running


def read(client: Any, uri: str) -> Any:
    answer = client.request("resources/read", {"uri": uri})
    return answer["result"]["contents"][0] if "result" in answer else answer["error"]


def listed(client: Any, method: str = "resources") -> dict[str, Any]:
    path = "resources/list" if method == "resources" else "resources/templates/list"
    entries = client.request(path)["result"][method]
    return {entry["name"]: entry for entry in entries if "studio://" in str(entry)}


def test_files_and_functions_are_listed_and_read(running: Served) -> None:
    with running.client() as client:
        assert listed(client)["naming"] == {
            "uri": "studio://naming",
            "name": "naming",
            "mimeType": "text/markdown",
            "description": "How assets are named.",
        }
        assert listed(client, "resourceTemplates")["shot"]["uriTemplate"].endswith("{shot}")
        assert read(client, "studio://naming")["text"] == "Props begin with prop_.\n"
        shot = read(client, "studio://shots/a%20b/sh010")
        assert (json.loads(shot["text"]), shot["mimeType"]) == ({"frames": 24}, "application/json")
        assert read(client, "studio://largest")["text"] == "nothing"
        assert "no resource" in read(client, "studio://shots/a/b")["message"]


def test_the_gate_is_the_tools_gate(running: Served) -> None:
    with running.client() as client:
        running.app.capabilities.withdraw("scene.read")
        needs = listed(client)["largest"]["_meta"]["dcc"]
        assert needs["missing_capabilities"] == ["scene.read"]
        refused = read(client, "studio://largest")
        assert refused["code"] == -32001
        assert refused["data"]["missing"] == ["scene.read"]
        assert read(client, "studio://naming")["text"]


def test_whoever_watches_hears_of_changes(running: Served, skill: Path) -> None:
    shot = "studio://shots/a%20b/sh010"
    with running.client() as client:
        client.listen()
        for uri in ("studio://naming", "studio://largest", shot):
            client.request("resources/subscribe", {"uri": uri})
        client.call("studio__publish", {"show": "a b", "shot": "sh010", "frames": 48})
        (told,) = client.wait_for("notifications/resources/updated")
        assert told["params"] == {"uri": shot}
        assert json.loads(read(client, shot)["text"]) == {"frames": 48}

        client.call("scene__create_primitive", {"kind": "cube", "name": "Box"})
        running.on_main(lambda: running.app.host.announce("scene"))
        assert client.wait_for("notifications/resources/updated", 2)[1]["params"] == {
            "uri": "studio://largest"
        }

        write_files(skill, {"docs/naming.md": "Otherwise.\n"})
        running.app.catalog.refresh()
        told = client.wait_for("notifications/resources/updated", 5)[2:]
        assert {one["params"]["uri"] for one in told} == {
            "studio://naming",
            "studio://largest",
            shot,
        }
        assert read(client, "studio://naming")["text"] == "Otherwise.\n"


def test_an_unloaded_skill_takes_its_resources_along(running: Served) -> None:
    with running.client() as client:
        client.listen()
        client.call("skills__unload", {"name": "studio"})
        client.wait_for("notifications/resources/list_changed")
        assert listed(client) == {}
        assert "no resource" in read(client, "studio://naming")["message"]


def test_of_two_skills_with_one_uri_the_first_keeps_it(tmp_path: Path, skill: Path) -> None:
    files = {**FILES, "docs/naming.md": "Another's.\n"}
    other = write_skill(tmp_path / "others", "zebra", block=BLOCK, files=files)
    with served(skills=True, skill_paths=[skill, other]) as running, running.client() as client:
        assert read(client, "studio://naming")["text"] == "Props begin with prop_.\n"
        assert listed(client).keys() == {"naming", "largest"}


@pytest.mark.skipif(os.name == "nt", reason="links need a special right on Windows")
def test_a_file_that_became_a_link_is_not_read(
    running: Served, skill: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    (skill / "docs" / "naming.md").unlink()
    (skill / "docs" / "naming.md").symlink_to(secret)
    with running.client() as client:
        assert "no resource" in read(client, "studio://naming")["message"]
