"""Shell completion, requested in the same way as by the shells' scripts, and by the shells
themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.clients.book import ClientBook
from callboard_programs.cli import COMMANDS, main
from cli.terminals import terminal
from docs.blocks import blocks, commands
from e2e.serving import callboard
from needed import need
from serving import served


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def fitting(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that returns the completions that a shell's script gets in a folder with
    one file."""
    folder, answer = home / "work", home / "answer"
    folder.mkdir()
    (folder / "a.txt").touch()

    def ask(*words: str) -> list[str]:
        line = " ".join(["callboard", *words])
        asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SHELL": "bash"}
        asked |= {"_ARGCOMPLETE_SUPPRESS_SPACE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(answer)}
        asked |= {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": ""}
        answer.touch()
        done = subprocess.run(
            callboard(), env={**os.environ, **asked}, cwd=folder, capture_output=True, timeout=60
        )
        assert done.stderr == b""
        return answer.read_text().split("\n")

    return ask


@pytest.mark.slow  # Each case starts a program.
@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ([""], list(COMMANDS)),
        (["unins"], ["uninstall", "uninstall-skill"]),
        (["--ver"], ["--version"]),
        (["doctor", "--"], ["--help", "--settings", "--json"]),
        (["serve", "--roots"], ["--roots-policy"]),
        (["serve", "--host", "o"], ["openusd"]),
        (["serve", "--host=o"], ["--host=openusd"]),
        (["serve", "--host", "maya", "--host", "m"], ["maya"]),
        (["serve", "--port", ""], [""]),
        (["serve", "--ui", "--work"], ["--worker"]),
        (["serve", "--deny", "script"], ["script.execute"]),
        (["serve", "--scene", ""], ["a.txt"]),
        (["serve", "--scene=a"], ["--scene=a.txt"]),
        (["lint", ""], ["a.txt"]),
        (["call", "x", "--out", ""], ["a.txt"]),
        (["lint", "a", "b", ""], ["a.txt"]),
        (["lint", "a", "--str"], ["--strict"]),
        (["batch", "x", "--each", "a", ""], ["a.txt"]),
        (["batch", "x", "--each", "a", "--rep"], ["--report"]),
        (["config", "claude"], ["claude-code", "claude-desktop"]),
        (["capabilities", "with"], ["withdraw"]),
        (["capabilities", "withdraw", "scene.r"], ["scene.read"]),
        (["clients", "--json", "rev"], ["revoke"]),
        (["farm", "lo"], ["local"]),
        (["farm", "run", "x", "--sched"], ["--scheduler"]),
        (["new-skill", ""], [""]),
        (["report", "--call", ""], [""]),
        (["report", "--calls", "--html", ""], ["a.txt"]),
        (["call", "x", "--json", "{}", "--"], [
            "--help", "--json", "--answer", "--out", "--wait", "--instance"
        ]),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)  # fmt: skip
def test_what_fits_is_what_the_parser_takes(
    words: list[str], fits: list[str], fitting: Callable[..., list[str]]
) -> None:
    assert fitting(*words) == fits


def test_names_of_this_machine_fit(fitting: Callable[..., list[str]]) -> None:
    ClientBook().make("alice")
    assert fitting("clients", "revoke", "") == ["alice"]
    with served(announce=True) as server:
        server.tool("extra", lambda: None)
        tools = fitting("call", "")
        assert "extra" in tools
        kind, instance = fitting("call", "extra", "--instance", "")
        assert [instance] == fitting("call", "extra", "--instance", instance[:5])
        assert kind not in tools


def test_powershells_script_is_argcompletes(capsys: pytest.CaptureFixture[str]) -> None:
    """PowerShell itself isn't run here."""
    assert main(["completion", "powershell"]) == 0
    script = capsys.readouterr().out
    assert "Register-ArgumentCompleter -Native -CommandName callboard" in script


#: The options with which each shell reads its user's startup file.
SHELLS = {"bash": ["--noprofile", "-i"], "zsh": ["-d", "-i"], "fish": ["-i"]}
#: The ``callboard`` that the shells find next to the scene. It prints its arguments.
PROGRAM = """\
#!/bin/sh
case $1$_ARGCOMPLETE in
completion | 1) exec "{python}" -m callboard "$@" ;;
*) for each; do printf '<%s>' "$each"; done ;;
esac
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a scene, in which shells find ``callboard``."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "callboard"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "a scene.usda").touch()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_itself_completes(shell: str, place: Path) -> None:
    """The line on the page is written into the file that the page names, or else typed."""
    need(shell)
    (line,) = (
        line
        for block in blocks("docs/commands.md")
        for line, _ in commands(block.text)
        if line.removeprefix('eval "$(').startswith(f"callboard completion {shell}")
    )
    typed, _, file = line.partition("# in ~/")
    if file:
        (place / file).write_text(f"{line}\n", encoding="utf-8")
        typed = ":"
    # fish reads only from its controlling terminal.
    controls = [setsid, "--ctty", "--wait"] if (setsid := shutil.which("setsid")) else []
    with terminal([*controls, shell, *SHELLS[shell]], place) as it:
        it.type(f"{typed}; callboard re''ady")
        it.until("<ready>")
        for keys, becomes in (
            ("doct\t--set\t", "<doctor><--settings>"),
            ("serve --host=ope\t", "<serve><--host=openusd>"),
            ("farm loc\t", "<farm><local>"),
            ("lint a\t", "<lint><a scene.usda>"),
            ("serve --scene a\t", "<serve><--scene><a scene.usda>"),
        ):
            it.type(f"callboard {keys}")
            it.until(becomes)
