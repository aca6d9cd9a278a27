"""A bundle that a host holds back is shown in every place where a person may look, with a way to
release it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from waiting import until

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bundle"
WANTED = "ai.nimblebrain/host-resources"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def withdraw(running: Served) -> None:
    running.on_main(lambda: running.app.capabilities.withdraw("filesystem.read"))


def out(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_it_is_told_by_commands_rest_and_the_answer_to_a_call(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["install-skill", str(EXAMPLE)]) == 0
    with served(announce=True, skills=True) as running, running.client() as client:
        until(lambda: "shot_notes__read" in running.app.tools, "the bundle's tool")
        assert out(capsys, "skills", "--installed")["installed"][0]["held_back"] == []
        withdraw(running)
        until(lambda: "shot_notes__read" not in running.app.tools, "the end of the bundle's tool")
        (bundle,) = out(capsys, "skills", "--installed")["installed"]
        (held,) = bundle["held_back"]
        listed = client_skills(running)
        for told in (
            held["why"],
            next(one["message"] for one in listed["failures"] if one["skill"] == "shot-notes"),
            refusal(client),
            caplog.text,
        ):
            assert WANTED in told
            assert "restore filesystem.read" in told
        assert listed["host_capabilities"] == []
        main(["skills", "--installed"])
        assert f"held back in {held['host']}" in capsys.readouterr().out
        main(["doctor"])
        assert WANTED in capsys.readouterr().out


def client_skills(running: Served) -> Any:
    return running.client().send("GET", None, {"Accept": None}, "/v1/skills").message


def refusal(client: FakeClient) -> str:
    answer = client.request("tools/call", {"name": "shot_notes__read", "arguments": {}})
    return str(answer["error"]["message"])


def test_a_bundle_is_installed_against_what_running_hosts_offer(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copytree(EXAMPLE, home / "bundle")
    with served(announce=True) as first:
        withdraw(first)
        assert main(["install-skill", str(folder)]) == 1
        assert f"{WANTED}. It was not installed" in capsys.readouterr().err
        with served(announce=True):
            answer = out(capsys, "install-skill", str(folder))
        (line,) = answer["held_back"]
        assert WANTED in line
        assert "Restore filesystem.read" in line
