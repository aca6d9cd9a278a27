"""In the MCP skills extension, clients can read every listed file, and no other file."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from serving import Served, served
from skills.skill_tree import write_skill
from stateless_client import Json, Stateless

FILES = {
    "tools.yaml": "tools: [go]\n",
    "scripts/go.py": "def main(): return {}\n",
    "references/more.md": "# More\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write_skill(tmp_path, "greeter", files=FILES)
    (folder / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    (folder / "hidden.md").write_text("seen\u200bunseen", encoding="utf-8")
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served(skills=True, skill_paths=[folder.parent]) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Stateless:
    return Stateless(server.client())


def entry_of(client: Stateless, name: str) -> Json:
    entries = client.request("skills/list")["result"]["skills"]
    (entry,) = [one for one in entries if one["frontmatter"]["name"] == name]
    return dict(entry)


def test_the_extension_is_declared_where_there_are_extensions(client: Stateless) -> None:
    capabilities = client.request("server/discover")["result"]["capabilities"]
    assert capabilities["extensions"]["io.modelcontextprotocol/skills"] == {}
    with client.raw as session:
        answer = session.request("skills/list")
        assert answer["error"]["code"] == -32601


def test_every_file_reads_as_its_digest_and_size_say(client: Stateless) -> None:
    entry = entry_of(client, "greeter")
    assert entry["uri"] == "skill://greeter/SKILL.md"
    names = {one["uri"].removeprefix("skill://greeter/") for one in entry["resources"]}
    assert names == {"SKILL.md", "picture.png", "hidden.md", *FILES}
    for one in entry["resources"]:
        answer = client.request("resources/read", {"uri": one["uri"]})
        (content,) = answer["result"]["contents"]
        data = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
        assert len(data) == one["size"], one
        assert one["digest"] == f"sha256:{sha256(data).hexdigest()}"


def test_one_skill_is_got_by_its_uri(client: Stateless) -> None:
    entry = entry_of(client, "scene")
    answer = client.request("skills/get", {"uri": entry["uri"]})["result"]
    assert answer["skill"] == entry
    assert "nextCursor" not in answer
    assert (answer["cacheScope"], answer["ttlMs"]) == ("private", 5000)


@pytest.mark.parametrize("uri", ["skill://nobody/SKILL.md", "skill://greeter/go.py", "", 5, None])
def test_what_is_no_skills_uri_is_refused(client: Stateless, uri: object) -> None:
    params = {} if uri is None else {"uri": uri}
    answer = client.raw.post(*client.message("skills/get", params)).message
    assert answer["error"]["code"] == -32602


def test_an_edit_is_seen_by_the_next_list(client: Stateless, folder: Path) -> None:
    before = entry_of(client, "greeter")
    (folder / "references" / "more.md").write_text("# Even more\n", encoding="utf-8")
    assert entry_of(client, "greeter")["resources"] != before["resources"]


@pytest.mark.parametrize("path", ["../secret", "%2e%2e/secret", "scripts/../../secret", "link"])
def test_nothing_outside_the_skill_is_read(client: Stateless, folder: Path, path: str) -> None:
    secret = folder.parent / "secret"
    secret.write_text("a secret", encoding="utf-8")
    if os.name != "nt":  # On this system, making links needs a special privilege.
        (folder / "link").symlink_to(secret)
    answer = client.raw.post(
        *client.message("resources/read", {"uri": f"skill://greeter/{path}"})
    ).message
    assert "error" in answer
    assert "a secret" not in str(answer)
