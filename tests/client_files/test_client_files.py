"""The configuration file of every known client, with other entries in it. callboard's entry is
added, read back and removed."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from callboard.client_files.change import planned, without
from callboard.client_files.known import ClientFormat, bridge, formats
from callboard.errors import PeerError

COMMAND = ["/opt/my tools/callboard", "stdio"]
LOCAL = {"command": COMMAND[0], "args": ["stdio", "--client", "me"]}
TOKEN = {"Authorization": "Bearer secret"}
URL = "http://127.0.0.1:17797/mcp"

#: The entries that each client's documentation shows: one that starts a program, and one with an
#: address.
DOCUMENTED: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "claude-code": (LOCAL, {"type": "http", "url": URL, "headers": TOKEN}),
    "claude-desktop": (LOCAL, None),
    "cursor": (LOCAL, {"type": "http", "url": URL, "headers": TOKEN}),
    "vscode": ({"type": "stdio", **LOCAL}, {"type": "http", "url": URL, "headers": TOKEN}),
    "windsurf": (LOCAL, {"serverUrl": URL, "headers": TOKEN}),
    "devin": (LOCAL, {"url": URL, "headers": TOKEN}),
    "zed": ({"source": "custom", **LOCAL}, {"source": "custom", "url": URL, "headers": TOKEN}),
    "gemini": (LOCAL, {"httpUrl": URL, "headers": TOKEN}),
    "codex": (LOCAL, {"url": URL, "http_headers": TOKEN}),
    "lm-studio": (LOCAL, {"url": URL, "headers": TOKEN}),
    "goose": (
        {
            **{"name": "callboard", "enabled": True, "timeout": 300, "type": "stdio"},
            **{"cmd": COMMAND[0], "args": LOCAL["args"]},
        },
        {
            **{"name": "callboard", "enabled": True, "timeout": 300, "type": "streamable_http"},
            **{"uri": URL, "headers": TOKEN},
        },
    ),
    "jetbrains": (LOCAL, None),
}

JSON = """{
    "zeta": [1, 2.50, "ü", {"deep": null}],
    "KEY": {
        "other": {"command": "npx", "args": ["-y", "thing"]}
    },
    "alpha": true
}
"""
JSONC = """// mine, keep it
{
  "zeta": "http://no/comment", /* between */
  "KEY": {
    "other": { "command": "npx" }, // why it is here
    // the end
  },
  "alpha": [1, 2,],
}
"""
TOML = """# mine
model = "o"   # fast

[KEY.other]
command = "npx"
args = [
  "-y",
]

# about what follows
[zeta]
alpha = 1
"""
YAML = """# mine
GOOSE_MODE: auto   # careful
KEY:
  other:
    cmd: npx
    args: ['-y', "thing"]
    enabled: true
# about what follows
zeta:
- 1
"""
TEXTS = {"json": JSON, "jsonc": JSONC, "toml": TOML, "yaml": YAML}
KNOWN = {name: each for name, each in formats().items() if each.path is not None}


def as_the_client_reads(known: ClientFormat, path: Path) -> Any:
    text = path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    if known.syntax == "yaml":
        return yaml.safe_load(text)
    if known.syntax == "toml":
        return import_module("tomllib" if sys.version_info >= (3, 11) else "tomlkit").loads(text)
    if known.syntax == "jsonc":
        text = re.sub(r"(?m)(?<!:)//.*$|/\*(?s:.*?)\*/", "", text)
        text = re.sub(r",(\s*[}\]])", r"\1", text)
    return json.loads(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", KNOWN)
def test_an_entry_goes_into_the_file_and_out_again(name: str, newline: str, tmp_path: Path) -> None:
    known = KNOWN[name]
    path = tmp_path / "settings"
    before = TEXTS[known.syntax].replace("KEY", known.key).replace("\n", newline).encode()
    path.write_bytes(before)
    kept = as_the_client_reads(known, path)
    local, remote = DOCUMENTED[name]
    for entry, shown in [
        (known.bridge("me", command=COMMAND), local),
        (known.entry(URL, "secret"), remote),
    ]:
        if shown is None:
            continue
        assert entry == shown
        planned(known, path, entry).write()
        now = as_the_client_reads(known, path)
        assert now[known.key].pop("callboard") == shown
        assert now == kept
        assert list(now) == list(kept)
        after = path.read_bytes()
        lines = iter(after.decode().splitlines())
        # All lines are in the same order. Only a comma may have been added to one of them.
        assert all(
            any(line.rstrip(",") == old.rstrip(",") for line in lines)
            for old in before.decode().splitlines()
        )
        assert after.count(b"\n") == after.count(newline.encode())
        assert planned(known, path, entry).difference == []
    without(known, path).write()
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("text", [None, "", "{}", "EMPTY"])
def test_where_nothing_is_yet(name: str, text: str | None, tmp_path: Path) -> None:
    known = KNOWN[name]
    path = tmp_path / "not yet" / "settings"
    if text == "EMPTY":
        text = {"toml": "[mcp_servers]\n", "yaml": f"{known.key}:\nlast: 1\n"}.get(
            known.syntax, json.dumps({known.key: {}}, indent=2)
        )
    if text is not None:
        path.parent.mkdir()
        path.write_text("" if text == "{}" and known.syntax == "toml" else text)
    planned(known, path, known.bridge("me", command=COMMAND)).write()
    assert as_the_client_reads(known, path)[known.key]["callboard"] == DOCUMENTED[name][0]
    without(known, path).write()
    assert not (as_the_client_reads(known, path) or {}).get(known.key)


def test_lm_studio_is_followed_to_where_it_keeps_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))

    def place() -> Path | None:
        return formats()["lm-studio"].path

    assert place() == tmp_path / ".lmstudio" / "mcp.json"
    (tmp_path / ".cache" / "lm-studio").mkdir(parents=True)
    assert place() == tmp_path / ".cache" / "lm-studio" / "mcp.json"
    pointer = tmp_path / ".lmstudio-home-pointer"
    pointer.write_text(f"{tmp_path / 'on a larger disk'}\n", "utf-8")
    assert place() == tmp_path / "on a larger disk" / "mcp.json"
    for broken in (b"", b"\xff\x00", b"relative"):
        pointer.write_bytes(broken)
        assert place() == tmp_path / ".cache" / "lm-studio" / "mcp.json"


BROKEN = {
    "json": ['{"a": 1', '{"a": 1,}', "// hello\n{}", "[1]", '{"a": 1} 2', '{"KEY": [1]}', "nul"],
    "jsonc": ['{"a": 1', "/* {}", "[1]", '{"KEY": 3}', '{"a" 1}', '{"a": 01}', "[" * 5000],
    "toml": ["a = ", "[KEY\n", "KEY = 3", "[KEY]\n[KEY]\n"],
    "yaml": ["a: [1", "- 1\n- 2\n", "KEY: 3", "\ta: 1", "a: 1\n---\nb: 2\n"],
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_broken_file_is_refused_and_stays(name: str, tmp_path: Path) -> None:
    known = KNOWN[name]
    path = tmp_path / "settings"
    for text in [*BROKEN[known.syntax], "\x00", '{"KEY": {"a": 1}, "KEY": {"b": 2}}']:
        before = text.replace("KEY", known.key).encode()
        path.write_bytes(before)
        with pytest.raises(PeerError, match="by hand"):
            planned(known, path, known.bridge("me"))
        assert path.read_bytes() == before
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(PeerError, match="by hand"):
        planned(known, path, known.bridge("me"))


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("json", '{"mcpServers": {"a": {"command": "x"}}, "b": 1}'),
        ("json", '{"mcpServers":{"callboard":{"command":"old"},"z":{}}}'),
        ("json", '\ufeff{\n\t"mcpServers": {\n\t\t"callboard": {"command": "old"}\n\t}\n}'),
        ("jsonc", '{\n  "a": 1 // one\n  /* two\n  */\n}\n'),
        ("jsonc", "{ // nothing yet\n}\n"),
        (
            "toml",
            '[mcp_servers.callboard]\ncommand = "old"\n[mcp_servers.callboard.env]\nA = "1"\n',
        ),
        ("toml", "a = 1"),
        ("toml", '[mcp_servers."callboard"]\r\ncommand = "old"\r\n\r\n# of b\r\n[b]\r\nc = 1\r\n'),
        ("yaml", "extensions: {}\nz: 1\n"),
        ("yaml", "extensions:\n  callboard:\n    cmd: old\n  z:\n    text: |\n      a\n      b\n"),
        ("yaml", "a: 1"),
        ("yaml", "extensions:\n    z: {}"),
    ],
)
def test_ways_in_which_people_write(syntax: str, text: str, tmp_path: Path) -> None:
    known = next(each for each in KNOWN.values() if each.syntax == syntax)
    path = tmp_path / "settings"
    path.write_bytes(text.replace("mcpServers", known.key).encode())
    kept = as_the_client_reads(known, path) or {}
    (kept.get(known.key) or {}).pop("callboard", None)
    entry = known.bridge("me", command=COMMAND)
    planned(known, path, entry).write()
    now = as_the_client_reads(known, path)
    assert now[known.key].pop("callboard") == entry
    assert {**kept, known.key: kept.get(known.key) or {}} == now
    remarks = re.findall(r"// \w+|/\*.*?\*/|# \w+", text, re.DOTALL)
    assert all(remark in path.read_bytes().decode() for remark in remarks)
    assert path.read_bytes().decode().startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("toml", 'KEY = { a = {command = "x"} } # one\nb = 1 # two\n'),
        ("toml", '\ufeffKEY.a.command = "x" # one\n[z] # two\nc = 1\n'),
        ("toml", '[KEY] # one\na = {command = "x"}\ncallboard = {command = "old"} # two\n'),
        ("toml", '[KEY]\r\n# one\r\ncallboard.command = "old"\r\n# two\r\n[z]\r\na = 1\r\n'),
        ("toml", "a = 1 # one\n[ 'KEY' . 'callboard' ]\ncommand = 'old'\n# two\n[z]\nc = 1\n"),
        ("toml", 't = """\n[KEY.callboard]\n""" # one\n[KEY.a] # two\ncommand = "x"\n'),
        ("yaml", "KEY: {a: {cmd: x}, b: {}}  # one\nz: 1 # two\n"),
        ("yaml", "KEY: {a: {cmd: x}, # one\n  callboard: {cmd: old}, # two\n}\n"),
        ("yaml", '{"KEY": {"a": {"cmd": "x"}}, "z": 1} # one\n# two\n'),
        ("yaml", "KEY:\n  a: &a\n    cmd: x # one\n  b: *a\n  c:\n    <<: *a\n# two\nz: 1\n"),
        ("yaml", "one: &a {cmd: x} # one\nKEY:\n    b: *a\n# two\nz: *a\n"),
        ("yaml", "---\nKEY: # one\n  b: {}\n# two\n...\n"),
        ("yaml", "---\na: 1 # one\n# two\n...\n"),
    ],
)
def test_valid_files_that_are_written_in_other_ways(syntax: str, text: str, tmp_path: Path) -> None:
    known = next(each for each in KNOWN.values() if each.syntax == syntax)
    path = tmp_path / "settings"
    path.write_bytes(text.replace("KEY", known.key).encode())
    kept = as_the_client_reads(known, path)
    kept.setdefault(known.key, {}).pop("callboard", None)
    entry = known.bridge("me", command=COMMAND)
    planned(known, path, entry).write()
    now = as_the_client_reads(known, path)
    assert now[known.key].pop("callboard") == entry
    assert now == kept
    written = path.read_bytes().decode()
    assert "# one" in written
    assert "# two" in written
    assert written.startswith("\ufeff") == text.startswith("\ufeff")
    assert planned(known, path, entry).difference == []
    without(known, path).write()
    assert {**{known.key: {}}, **as_the_client_reads(known, path)} == kept
    assert "# one" in path.read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    ["KEY: &e {a: {}}\ny: *e\n", "KEY: &e\n  a: {}\ny: *e\n", "x: &e {a: {}}\nKEY: *e\n"],
)
def test_what_would_change_elsewhere_too_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text.replace("KEY", "extensions"))
    with pytest.raises(PeerError, match="without changing other parts"):
        planned(KNOWN["goose"], path, KNOWN["goose"].bridge("me"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_file_keeps_its_link_and_its_mode_until_a_token_is_in_it(tmp_path: Path) -> None:
    known = KNOWN["cursor"]
    real, link = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    real.write_text("{}")
    real.chmod(0o644)
    link.symlink_to(real)
    planned(known, link, known.bridge("me")).write()
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    planned(known, link, known.entry(URL, "secret")).write()
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert "secret" in real.read_text()


def aliases_of_aliases() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for one in range(1, 14):
        lines.append(f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 9)}]")
    return "\n".join(lines)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        # A parser that explores every way to read the first two texts would never finish.
        ("jsonc", '{\n  "a": 1 ' + "/**/" * 60 + "/* b\n*/\n}"),
        ("jsonc", '{\n  "a": 1 ' + "// " * 60 + "\r\t\n}"),
        ("yaml", aliases_of_aliases()),
        ("yaml", "a: &a [*a]"),
        pytest.param("yaml", "a: " + "[" * 5000 + "]" * 5000, marks=pytest.mark.sweep),
        ("json", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("toml", "a = " + "[" * 5000 + "]" * 5000),
        pytest.param("toml", ".".join("a" * 5000) + " = 1", marks=pytest.mark.sweep),
    ],
    ids=range(8),
)
def test_a_hostile_file_is_refused_or_written_and_soon(
    syntax: str, text: str, tmp_path: Path
) -> None:
    known = next(each for each in KNOWN.values() if each.syntax == syntax)
    path = tmp_path / "settings"
    path.write_bytes(text.encode())
    refused = None
    try:
        planned(known, path, known.bridge("me", command=COMMAND)).write()
    except PeerError as error:
        refused = error.message
    written = path.read_text("utf-8")
    assert COMMAND[0] in written if refused is None else "by hand" in refused
    assert refused is None or path.read_bytes() == text.encode()


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    known = KNOWN["cursor"]
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "not mounted" / "mcp.json")
    for path in (pipe, link, tmp_path):
        with pytest.raises(PeerError, match="by hand"):
            planned(known, path, known.bridge("me"))
    assert link.is_symlink()
    assert pipe.is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows finds programs by their suffixes")
def test_an_entry_names_the_sites_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "site" / "bin" / "callboard"
    launcher.parent.mkdir(parents=True)
    launcher.write_text("#!/bin/sh\n")
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "site"))
    assert bridge() != [str(launcher), "stdio"]
    launcher.chmod(0o755)
    entry = formats()["cursor"].bridge("ada")
    assert (entry["command"], entry["args"][0]) == (str(launcher), "stdio")
