"""``--json``: one JSON value on stdout, whether the command succeeds or fails."""

from __future__ import annotations

import argparse
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.skills.vendored import this_python
from callboard_programs.cli import COMMANDS, main, module_of
from serving import served
from skills.wheels import make_wheel

#: Commands whose output is already JSON, a shell script, or the messages of a protocol.
SPEAK_ALREADY = {"serve", "gateway", "farm", "stdio", "connect", "completion"}

Ask = Any


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Return a function that runs a command with ``--json`` and returns its exit code and its
    stdout."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, Any]:
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_every_command_that_prints_for_people_prints_for_programs() -> None:
    for command in sorted(COMMANDS.keys() - SPEAK_ALREADY):
        parser = argparse.ArgumentParser()
        module_of(command).add_arguments(parser)
        assert "--json" in parser._option_string_actions, command


def test_applications(ask: Ask, tmp_path: Path) -> None:
    folder, archive = tmp_path / "maya", tmp_path / "maya.zip"
    folder.mkdir()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("callboard.mod", "+ callboard\n")
    for command, more in (("install", ["--archive", str(archive)]), ("uninstall", [])):
        code, told = ask(command, "maya", "--dir", str(folder), "--dry-run", *more)
        assert (code, told["host"], told["dry_run"]) == (0, "maya", True)
        assert all(isinstance(line, str) for line in told["lines"])


def test_a_skill_and_a_bundle(ask: Ask, tmp_path: Path) -> None:
    code, told = ask("new-skill", "shot-tools")
    assert (code, told["folder"]) == (0, "shot-tools")
    assert told["next"]["check"] == "callboard lint shot-tools"

    code, told = ask("new-bundle", "shot-notes")
    assert (code, told["next"]["pack"]) == (0, "callboard pack shot-notes")

    code, told = ask("pack", "shot-notes", "--no-start")
    assert (code, told["file"]) == (0, "shot-notes-0.1.0.mcpb")
    # If there is no python on PATH, that is a finding too.
    assert [one for one in told["findings"] if "'python', which runs" not in one["message"]] == []

    code, told = ask("install-skill", "shot-notes-0.1.0.mcpb", "--no-start")
    assert (code, told["name"], told["version"], told["scope"]) == (
        0, "shot-notes", "0.1.0", "user"
    )  # fmt: skip
    assert told["lines"][0] == "shot-notes 0.1.0 is installed."

    assert ask("uninstall-skill", "shot-notes") == (0, {"name": "shot-notes", "removed": True})


def test_a_bundle_that_is_wrong_names_its_mistakes(ask: Ask, tmp_path: Path) -> None:
    ask("new-bundle", "shot-notes")
    manifest = tmp_path / "shot-notes" / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace("0.1.0", ""), "utf-8")
    code, told = ask("pack", "shot-notes", "--no-start")
    assert (code, told["file"]) == (1, None)
    assert told["findings"][0]["file"] == "manifest.json"


@pytest.mark.slow
def test_packages(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(tmp_path / "wheels", "shotlib-for-tests", "1.0", "VERSION = '1.0'\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    ask("new-skill", "shot-tools")
    skill = tmp_path / "shot-tools" / "SKILL.md"
    text = skill.read_text("utf-8")
    skill.write_text(text.replace("    tools: ", "    requires: [shotlib-for-tests]\n    tools: "))
    code, told = ask("vendor", "shot-tools")
    assert (code, told["skill"]) == (0, "shot-tools")
    (brought,) = told["folders"]
    assert (brought["python"], brought["packages"]) == (this_python(), ["shotlib-for-tests 1.0"])
    assert Path(brought["folder"]).is_dir()
    skill.write_text(text.replace("    tools: ", "    requires: [nobody-has-it]\n    tools: "))
    code, told = ask("vendor", "shot-tools")
    assert (code, told["error"]["kind"]) == (1, "failed")


def test_clients(ask: Ask) -> None:
    ClientBook().make("alice")
    assert ask("clients", "approve", "alice") == (0, {"name": "alice", "approved": True})
    _, rows = ask("clients")
    assert [row["name"] for row in rows] == ["alice"]
    told = {"name": "alice", "revoked": True, "silent": []}
    assert ask("clients", "revoke", "alice") == (0, told)


def test_a_configuration(ask: Ask) -> None:
    with served(announce=True) as server:
        code, told = ask("config", "claude-code", "--name", "alice", "--http")
        assert (code, told["client"], told["written"]) == (0, "claude-code", False)
        (entry,) = json.loads(told["configuration"])["mcpServers"].values()
        assert entry["url"] == server.app.url
        for written in (True, False):  # The second time, the file already exists.
            code, told = ask("config", "cursor", "--http", "--user", "--write")
            assert (code, told["written"]) == (0, written)
        assert Path(told["path"]).is_file()


@pytest.mark.parametrize(
    "words",
    [
        ["capabilities"],
        ["clients", "revoke", "nobody"],
        ["config", "other", "--write"],
        ["install", "maya", "--dir", __file__],
        ["uninstall-skill", "nothing"],
        ["pack", "nowhere"],
        ["vendor", "nowhere"],
        ["lint", "nowhere"],
        ["new-skill", "Not A Name"],
        ["report", "--since", "never"],
    ],
    ids=" ".join,
)
def test_what_goes_wrong_has_one_shape(words: list[str], ask: Ask) -> None:
    code, told = ask(*words)
    assert code == 1
    assert told["error"]["kind"] == "failed"
    assert told["error"]["message"]
