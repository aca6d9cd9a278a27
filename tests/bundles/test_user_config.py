"""The settings that a bundle's user must give before its server can run."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from server_bundles import manifest

from callboard.bundles.installed.install import Bundles, InstalledBundle, InstallError
from callboard.bundles.installed.install_folders import PROVIDED, user_bundles
from callboard.bundles.installed.manifest import ManifestError
from callboard.bundles.installed.skill_check import command_of, trouble_here
from callboard.bundles.installed.user_config import SettingError
from callboard_programs.cli import main
from serving import served, text_of
from waiting import until

SETTINGS: dict[str, Any] = {
    "key": {"type": "string", "title": "API key", "required": True, "sensitive": True},
    "dirs": {"type": "directory", "title": "Folders", "multiple": True, "default": ["${HOME}"]},
    "model": {"type": "file", "title": "Model"},
    "size": {"type": "number", "title": "Size", "default": 3, "min": 1, "max": 9},
    "loud": {"type": "boolean", "title": "Loud", "default": False},
}
ARGS = ["${user_config.dirs}", "--size=${user_config.size}", "${user_config.model}", "end"]
ECHO = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"tools": [{"name": "told", "inputSchema": {"type": "object"}}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif message["method"] == "tools/call":
        said = json.dumps([sys.argv[1:], os.environ.get("KEY"), os.environ.get("LOUD")])
        result = {"content": [{"type": "text", "text": said}]}
    elif message["method"] == "server/discover":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                          "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def source(
    folder: Path, version: str = "1.0.0", command: str = sys.executable, **more: Any
) -> Path:
    made = folder / f"source-{version}"
    made.mkdir()
    (made / "echo.py").write_text(ECHO)
    config = {
        "command": command,
        "args": ["${__dirname}/echo.py", *ARGS],
        "env": {"KEY": "${user_config.key}", "LOUD": "${user_config.loud}"},
    }
    server = {"type": "python", "entry_point": "echo.py", "mcp_config": config}
    fields = {"server": server, "user_config": SETTINGS, **more}
    (made / "manifest.json").write_text(manifest("asks", version, **fields))
    return made


def install(bundles: Bundles, made: Path, **settings: list[str]) -> InstalledBundle:
    return bundles.install(made, PROVIDED, settings=settings)


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(tmp_path / "installed")


def test_without_a_required_answer_nothing_is_installed(bundles: Bundles, tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"'key' \(API key\).*--set key=…"):
        install(bundles, source(tmp_path))
    assert bundles.installed() == []


def test_answers_and_defaults_become_arguments(bundles: Bundles, tmp_path: Path) -> None:
    install(bundles, source(tmp_path), key=["${HOME}"])
    (bundle,) = bundles.installed()
    argv, env = command_of(bundle)
    assert argv[2:] == [str(Path.home()), "--size=3", "end"]
    assert env == {"KEY": "${HOME}", "LOUD": "false"}
    folders = [str(tmp_path), str(bundles.folder)]
    (tmp_path / "m.bin").write_text("")
    answers = {"dirs": folders, "size": ["5"], "model": [str(tmp_path / "m.bin")], "loud": ["yes"]}
    upgraded = install(bundles, source(tmp_path, "2.0.0"), **answers)
    argv, env = command_of(upgraded)
    assert argv[2:] == [*folders, "--size=5", str(tmp_path / "m.bin"), "end"]
    assert env == {"KEY": "${HOME}", "LOUD": "true"}  # the key was given for 1.0.0
    told = json.dumps(upgraded.as_json())
    assert "API key" not in told
    assert upgraded.as_json()["settings"]["key"] == "(kept)"


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_answers_are_for_the_user_alone(bundles: Bundles, tmp_path: Path) -> None:
    install(bundles, source(tmp_path), key=["secret"])
    (kept,) = bundles.folder.rglob("settings.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    bundles.uninstall("asks")
    assert not kept.exists()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"size": ["ten"]}, "must be a number from 1 to 9, not 'ten'"),
        ({"size": ["10"]}, "must be a number from 1 to 9"),
        ({"loud": ["maybe"]}, "must be true or false, not 'maybe'"),
        ({"dirs": ["/nowhere/at/all"]}, "there is no directory"),
        ({"model": ["/nowhere.bin"]}, "there is no file"),
        ({"key": ["a", "b"]}, "accepts one value, not 2"),
        ({"kex": ["a"]}, "no setting 'kex'; it has: key, dirs"),
    ],
)
def test_a_wrong_answer_is_refused_with_what_is_right(
    bundles: Bundles, tmp_path: Path, answer: dict[str, list[str]], why: str
) -> None:
    with pytest.raises(SettingError) as caught:
        install(bundles, source(tmp_path), **{"key": ["k"], **answer})
    assert why in caught.value.message
    assert bundles.installed() == []


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"a b": {"type": "string"}},
        {"a": "string"},
        {"a": {"type": "color"}},
        {"a": {"type": "number", "default": "3"}},
        {"a": {"type": "string", "required": "yes"}},
        {"a": {"type": "string", "default": ["x"]}},
    ],
)
def test_a_setting_that_is_declared_wrongly_is_refused(
    bundles: Bundles, tmp_path: Path, wrong: Any
) -> None:
    with pytest.raises(ManifestError, match="user_config"):
        install(bundles, source(tmp_path, user_config=wrong))


def test_a_missing_program_is_told_and_uninstalls_nothing(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = source(tmp_path, command="no-such-program")
    assert main(["install-skill", str(made), "--set", "key=k", "--set", "size=4"]) == 0
    printed = capsys.readouterr().out
    assert "can't be loaded here yet, because the program 'no-such-program'" in printed
    with served(skills=True) as running:
        keeper = running.app.bundles.keeper
        until(
            lambda: [why for _, why in keeper.in_use() if why and "no-such-program" in why],
            "the reason",
        )
    (bundle,) = user_bundles().installed()
    assert bundle.name == "asks"
    assert main(["skills", "--installed"]) == 0
    assert "not loaded, because the program 'no-such-program'" in capsys.readouterr().out
    main(["doctor"])
    assert "WRONG bundle asks: not loaded, because" in capsys.readouterr().out


def test_the_roots_that_its_server_gets_are_named_when_it_is_installed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(source(tmp_path)), "--set", "key=k", "--set", f"dirs={tmp_path}"]
    assert main(["install-skill", *given]) == 0
    printed = capsys.readouterr().out
    assert "the client's roots, limited to the artist's" in printed
    assert "it gets the artist's, else the host's project." in printed
    assert f"It was given the folder {tmp_path} as 'dirs'." in printed
    project = tmp_path / "shot"
    project.mkdir()
    assert main(["install-skill", *given, "--project", str(project)]) == 0
    assert f"else the project {project.resolve()}." in capsys.readouterr().out


def test_a_setting_that_went_missing_is_told_and_uninstalls_nothing(
    home: Path, tmp_path: Path
) -> None:
    bundle = install(user_bundles(), source(tmp_path), key=["k"])
    (home / "bundles" / "user" / "asks" / "settings.json").unlink()
    (bundle,) = user_bundles().installed()
    assert "--set key=…" in str(trouble_here(bundle))
    with served(skills=True) as running:
        keeper = running.app.bundles.keeper
        until(lambda: [why for _, why in keeper.in_use() if why and "API key" in why], "the reason")
    assert [bundle.name for bundle in user_bundles().installed()] == ["asks"]


@pytest.mark.slow
def test_a_server_runs_with_its_answers(home: Path, tmp_path: Path) -> None:
    status = main(["install-skill", str(source(tmp_path)), "--set", "key=k=1", "--set", "loud=on"])
    assert status == 0
    with served(skills=True) as running:
        until(lambda: "asks__told" in running.app.tools, "the bundle's tool")
        with running.client() as client:
            args, key, loud = json.loads(text_of(client.call("asks__told")))
    assert args == [str(Path.home()), "--size=3", "end"]
    assert (key, loud) == ("k=1", "true")
