"""The command line as a whole: every command has a help text, and none loads modules that only
other commands need."""

from __future__ import annotations

import argparse
import errno
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.host_kit.headless import REQUIREMENTS, make_host
from callboard_programs.cli import COMMANDS, main, module_of
from callboard_programs.cli.command_result import EXITS
from callboard_programs.cli.examples import EXAMPLES, NEXT
from callboard_programs.cli.farm_command import PARTS
from callboard_programs.farm.security import security_of

PROJECT = Path(__file__).resolve().parents[2]
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from callboard_programs.cli import main
try:
    status = main(sys.argv[2:])
except SystemExit as end:
    status = end.code
assert not status, status
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
#: Modules that only a server, a skill or a client that stays connected needs.
HEAVY = {"asyncio", "email", "fastjsonschema", "sqlite3", "tornado", "yaml"}


def test_a_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for command in EXAMPLES:
        with pytest.raises(SystemExit) as end:
            main([*command.split(), "--help"])
        assert end.value.code == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"usage: callboard {command} ")
        assert "\nexamples:\n  callboard " in shown, command
        assert "\nexit codes: 0 done, 1 failed" in shown, command


def test_every_command_has_examples_and_takes_them() -> None:
    parts = {f"farm {part}" for part in PARTS}
    assert set(EXAMPLES) == {*COMMANDS, *parts}
    assert set(NEXT) < set(COMMANDS)
    for command, examples in EXAMPLES.items():
        name, _, _ = command.partition(" ")
        parser = argparse.ArgumentParser()
        module = module_of(name)
        module.add_arguments(parser)
        for written, _ in examples:
            assert written.startswith(command)
            words = shlex.split(written)[1:]
            if "--help" not in words:
                parser.parse_args(words)


def arguments_below(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield a parser's arguments, including those of its subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                yield from arguments_below(part)
        else:
            yield action


def options_below(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield a parser's options, including those of its subcommands."""
    return (action for action in arguments_below(parser) if action.option_strings)


def test_the_help_explains_each_argument() -> None:
    for command in COMMANDS:
        parser = argparse.ArgumentParser()
        module_of(command).add_arguments(parser)
        unexplained = [each.dest for each in arguments_below(parser) if not each.help]
        assert unexplained == [], command


def test_an_option_of_several_values_adds_up_when_it_is_given_again() -> None:
    for command in COMMANDS:
        parser = argparse.ArgumentParser()
        module_of(command).add_arguments(parser)
        for option in options_below(parser):
            if option.nargs in ("+", "*"):
                given = argparse.Namespace()
                option(parser, given, ["a", "b"])
                option(parser, given, ["c"])
                assert getattr(given, option.dest) == ["a", "b", "c"], option.option_strings


@pytest.mark.parametrize(
    ("module", "start", "extra"),
    [
        ("callboard_openusd.host", lambda: make_host("openusd", lambda _: None), "usd"),
        ("callboard_blender.host", lambda: make_host("blender", lambda _: None), "blender"),
        ("distributed.security", lambda: security_of(None), "farm"),
    ],
    ids=["openusd", "blender", "farm"],
)
def test_what_is_not_installed_is_told_with_the_command_that_brings_it(
    module: str, start: Callable[[], object], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    requirement = re.escape(REQUIREMENTS[extra])
    with pytest.raises(HostError, match=rf"needs `.*pip install '?{requirement}"):
        start()


def test_those_commands_install_the_packages_of_the_extras() -> None:
    project = (PROJECT / "pyproject.toml").read_text("utf-8")
    for extra, requirement in REQUIREMENTS.items():
        (packages,) = re.findall(rf"^{extra} = \[([^]]*)\]", project, re.MULTILINE)
        assert re.findall(r'"([^;"]*)[;"]', packages)[0] == requirement


def exits_of(table: str) -> dict[int, str]:
    rows = re.findall(r"^\| (\d+) \|(?: `(\w+)`)? \|", table, re.MULTILINE)
    return {int(code): kind for code, kind in rows}


def test_the_page_lists_every_exit_code() -> None:
    page = (PROJECT / "docs" / "commands.md").read_text("utf-8")
    kinds = {code: kind for kind, code in EXITS.items()}
    assert exits_of(page) == {0: "", **kinds, 130: ""}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list", "--nonsense"], 2),
        (["clients", "revoke", "nobody"], 1),
        (["lint", "/no/such/folder"], 1),
        (["call", "x", "--json", "[]"], 2),
        (["call", "x"], 3),
        (["list"], 0),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else str(each),
)
def test_commands_end_with_the_codes_of_that_page(
    words: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    try:
        ended: object = main(words)
    except SystemExit as end:
        ended = end.code
    assert ended == code


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {text}" in shown for name, text in COMMANDS.items())


@pytest.mark.parametrize("words", [["nonsense"], ["--nonsense", "list"], []])
def test_what_is_no_command_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "usage: callboard" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dcotor"], "invalid choice: 'dcotor'; did you mean doctor?\nsee: callboard --help\n"),
        (["install", "mya"], "'mya'; did you mean maya?\nsee: callboard install --help\n"),
        (["farm", "wroker"], "'wroker'; did you mean worker?\nsee: callboard farm --help\n"),
        (["clients", "revoek", "x"], "did you mean revoke?\nsee: callboard clients --help\n"),
        (["doctor", "--jsno"], "--jsno; did you mean --json?\nsee: callboard doctor --help\n"),
        (["serve", "--prt=1"], "--prt=1; did you mean --port?\nsee: callboard serve --help\n"),
        (["list", "all"], "unrecognized arguments: all\nsee: callboard list --help\n"),
        (["completion"], "arguments are required: shell\nsee: callboard completion --help\n"),
        (["zzz"], "'manual', 'completion')\nsee: callboard --help\n"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_typing_error_is_told_with_what_was_meant(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"usage: {told.partition('see: ')[2].partition(' --help')[0]}")
    # Python 3.14 doesn't quote choices.
    assert shown.replace("'", "").endswith(told.replace("'", ""))


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["list"]], ids=" ".join)
def test_what_is_asked_often_loads_little(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(PROJECT / "core"), *words],
        env={**os.environ, "CALLBOARD_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stderr.split())


def test_output_into_a_pipe_is_utf8(tmp_path: Path) -> None:
    """Windows gives a pipe an old code page, in which most names can't be written."""
    done = subprocess.run(
        [sys.executable, "-m", "callboard", "lint", str(tmp_path / "наряд")],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    )
    assert "наряд" in (done.stdout + done.stderr).decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "list"],
            env={**os.environ, "CALLBOARD_HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (1, f"callboard: {os.strerror(errno.ENOSPC)}\n")


def test_a_closed_pipe_ends_the_command_silently(tmp_path: Path) -> None:
    """A program such as ``head -1`` closes the pipe early."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "skills"],
            env={**os.environ, "CALLBOARD_HOME": str(tmp_path)},
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


LONG = "x" * 5000


@pytest.mark.parametrize(
    "words",
    [
        ["lint", LONG],
        ["pack", LONG],
        ["vendor", LONG],
        ["install-skill", LONG],
        ["report", "--html", LONG],
        ["install", "blender", "--dir", LONG],
        ["install", "blender", "--dir", __file__],
        ["report", "--html", str(Path(__file__).parent)],
        ["pack", str(Path(__file__).parent), "--out", str(Path(__file__).parent)],
    ],
    ids=lambda words: f"{words[0]} {'long' if LONG in words else 'wrong kind'}",
)
def test_a_path_that_no_system_takes_is_a_sentence(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    assert main(words) == 1
    told = capsys.readouterr()
    assert told.err.startswith("callboard: ") or ": error: " in told.out


def interrupted(command: str, module: str, text: str, tmp_path: Path) -> tuple[int, str]:
    """Run the command with the module's source replaced by ``text``. Return the command's exit code
    and stderr."""
    (tmp_path / "fakes").mkdir()
    (tmp_path / "fakes" / f"{module}.py").write_text(text)
    paths = os.pathsep.join(map(str, (tmp_path / "fakes", PROJECT / "core", PROJECT / "hosts")))
    done = subprocess.run(
        [sys.executable, "-m", "callboard", command],
        env={**os.environ, "CALLBOARD_HOME": str(tmp_path), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


@pytest.mark.slow
def test_ctrl_c_while_a_command_is_imported_shows_no_traceback(tmp_path: Path) -> None:
    assert interrupted("doctor", "tornado", "raise KeyboardInterrupt", tmp_path) == (130, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows can't send a signal to one process")
def test_ctrl_c_while_a_host_is_imported_ends_serve(tmp_path: Path) -> None:
    """OpenUSD's modules print the interruption and carry on."""
    swallows = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    pass
raise ImportError("it went on")
"""
    assert interrupted("serve", "pxr", swallows, tmp_path) == (-signal.SIGINT, "")
