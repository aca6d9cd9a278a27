"""The contents that a manifest may have, and the bundles that may be installed."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.bundles.installed.manifest import (
    HOST_KEY,
    CapabilityUnavailable,
    ManifestError,
    ServerCommand,
    check_capabilities,
    folder_name,
    parse_manifest,
    read_manifest,
)

RESOURCES = "ai.nimblebrain/host-resources"
PLAIN: dict[str, Any] = {
    "manifest_version": "0.3",
    "name": "rigging",
    "version": "1.2.0",
    "description": "Rigs bipeds",
    "author": {"name": "A studio"},
    "something_new": {"kept": "out of the way"},
}


def with_host(block: Any) -> bytes:
    return json.dumps({**PLAIN, "_meta": {HOST_KEY: block, "com.other": 1}}).encode()


def block(requirements: Any, version: str | None = "1.1", **more: Any) -> dict[str, Any]:
    fields = {"name": "Rigging", "icon": "bone", "host_capabilities": requirements, **more}
    return fields if version is None else {"host_version": version, **fields}


def test_the_seeds_manifest_is_read_and_passes_where_the_host_provides_it() -> None:
    seed = block({RESOURCES: {"required": True}})
    manifest = parse_manifest(with_host(seed))
    assert manifest.capabilities == {RESOURCES: True}
    assert (manifest.host_version, manifest.icon) == ("1.1", "bone")
    assert check_capabilities(manifest, [RESOURCES]) == ()


def test_valid_blocks() -> None:
    for fields in [
        block({RESOURCES: {"required": False}}),
        block({RESOURCES: {}}),
        block({RESOURCES: {}}, "1.2"),
        block({RESOURCES: {}}, "1.10"),
        block({RESOURCES: {}}, "2"),
        block({RESOURCES: {}}, unknown_at_the_top=True),
        block({}),
        {"host_version": "1.0", "name": "Rigging"},
        {"host_version": "anything", "future": []},
        {},
    ]:
        manifest = parse_manifest(with_host(fields))
        assert set(manifest.capabilities.values()) <= {False}


def test_blocks_that_are_refused() -> None:
    for fields, message in [
        (block({RESOURCES: {}}, "1.0"), "needs host_version 1.1 or later, but it is 1.0"),
        (block({}, "1.0"), "needs host_version 1.1"),
        (block({RESOURCES: {}}, None), "it is missing"),
        (block({RESOURCES: {}}, "0.9"), "needs host_version 1.1"),
        (block({RESOURCES: {}}, "v2"), "needs host_version 1.1"),
        (block({RESOURCES: {}}, "1.1-beta"), "needs host_version 1.1"),
        (block({RESOURCES: {"requierd": True}}), "unknown key 'requierd'"),
        (block({RESOURCES: {"required": True, "x": 1}}), "unknown key 'x'"),
        (block({RESOURCES: {"required": "yes"}}), "must be true or false"),
        (block({RESOURCES: {"required": 1}}), "must be true or false"),
        (block({RESOURCES: True}), "must be an object"),
        (block([RESOURCES]), "must be an object"),
        (block({"resources": {}}), "isn't a capability"),
        (block({"": {}}), "isn't a capability"),
        (block({}, 1.1), "host_version must be a string"),  # type: ignore[arg-type]
        ("1.1", "must be an object"),
    ]:
        with pytest.raises(ManifestError, match=message.replace("(", r"\(")):
            parse_manifest(with_host(fields))


def test_a_required_capability_that_is_missing_refuses_by_name() -> None:
    asked = block({"com.a/x": {"required": True}, "com.a/y": {}, "com.a/z": {"required": True}})
    manifest = parse_manifest(with_host(asked))
    with pytest.raises(CapabilityUnavailable) as caught:
        check_capabilities(manifest, ["com.b/q", "com.a/z"])
    assert caught.value.missing == ("com.a/x",)
    for word in ("rigging", "com.a/x", "not installed", "Provided: com.a/z, com.b/q"):
        assert word in caught.value.message
    assert "com.a/y" not in caught.value.message
    with pytest.raises(CapabilityUnavailable, match=r"Provided: \(none\)"):
        check_capabilities(manifest, [])


def test_a_preferred_capability_that_is_missing_is_told() -> None:
    manifest = parse_manifest(with_host(block({"com.a/x": {}, RESOURCES: {"required": False}})))
    assert check_capabilities(manifest, [RESOURCES]) == ("com.a/x",)


def test_manifests_that_are_refused() -> None:
    for change, message in [
        ({"manifest_version": None}, "manifest_version"),
        ({"manifest_version": 0.3}, "manifest_version"),
        ({"name": None}, "name must be"),
        ({"name": "  "}, "name must be"),
        ({"name": "../evil"}, "characters"),
        ({"name": "a/b"}, "characters"),
        ({"name": ".hidden"}, "characters"),
        ({"name": "x" * 65}, "characters"),
        ({"version": "1/2"}, "version"),
        ({"version": 1}, "version"),
        ({"description": None}, "description"),
        ({"author": "me"}, "author"),
        ({"author": {}}, "author.name"),
        ({"server": "python"}, "server must be"),
        ({"server": {"type": "python"}}, "mcp_config"),
        ({"server": {"mcp_config": {"command": ""}}}, "command"),
        ({"server": {"mcp_config": {"command": "x", "args": "y"}}}, "args"),
        ({"server": {"mcp_config": {"command": "x", "env": {"A": 1}}}}, "env"),
        ({"server": {"mcp_config": {"command": "x", "args": ["a\0b"]}}}, "a command can't contain"),
        (
            {"server": {"mcp_config": {"command": "x", "args": ["\ud800"]}}},
            "a command can't contain",
        ),
        ({"server": {"mcp_config": {"command": "x\0"}}}, "command has a character"),
        (
            {"server": {"mcp_config": {"command": "x", "env": {"A": "\0"}}}},
            "a command can't contain",
        ),
        ({"server": {"mcp_config": {"command": "x", "env": {"A=B": "1"}}}}, "env has a name"),
        ({"description": "half a pair \ud800"}, "description has a character"),
        ({"description": "clears the screen \x1b[2J"}, "description has a character"),
        ({"author": {"name": "\x9b31m"}}, "author.name has a character"),
        ({"display_name": "\ud800"}, "display_name has a character"),
        ({"compatibility": {"platforms": ["amiga"]}}, "for amiga"),
    ]:
        with pytest.raises(ManifestError, match=message):
            parse_manifest(json.dumps({**PLAIN, **change}).encode())


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b" " * (2**20 + 1)]
)
def test_what_is_no_manifest_at_all(data: bytes) -> None:
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        parse_manifest(data)


def test_a_missing_manifest_is_named_and_paths_are_not(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert "manifest.json" in caught.value.message
    assert str(tmp_path) not in caught.value.message


def test_the_older_version_key_and_a_byte_order_mark_are_taken() -> None:
    old = copy.deepcopy(PLAIN)
    old["dxt_version"] = old.pop("manifest_version")
    assert parse_manifest(b"\xef\xbb\xbf" + json.dumps(old).encode()).name == "rigging"


def test_a_scoped_name_becomes_a_folder() -> None:
    assert folder_name("@studio/rigging") == "studio__rigging"
    assert folder_name("rigging") == "rigging"
    for name in ("..", "../x", "a\\b", ""):
        with pytest.raises(ManifestError):
            folder_name(name)


def test_the_servers_command_is_filled_in(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "run").write_text("")
    config = {
        "command": "python",
        "args": ["${__dirname}/main.py", "--dir", "${user_config.dir}"],
        "env": {"KEY": "${user_config.key}", "H": "${HOME}"},
        "platform_overrides": {sys.platform: {"command": "bin/run"}, "amiga": {"command": "no"}},
    }
    manifest = {**PLAIN, "server": {"type": "python", "mcp_config": config}}
    server = parse_manifest(json.dumps(manifest).encode()).server
    assert server is not None
    argv, env = server.resolved(tmp_path, {"dir": "/data", "key": "k"})
    assert argv == [str(tmp_path / "bin" / "run"), f"{tmp_path}/main.py", "--dir", "/data"]
    assert env == {"KEY": "k", "H": str(Path.home())}
    with pytest.raises(ManifestError, match=r"user_config\.dir"):
        server.resolved(tmp_path)
    # A value is inserted as it is. Placeholders in it aren't replaced.
    assert ServerCommand("x", ("${user_config.a}",)).resolved(tmp_path, {"a": "${HOME}"})[0] == [
        "x",
        "${HOME}",
    ]
