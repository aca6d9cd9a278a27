"""Follows docs/walkthrough.md from top to bottom as a reader would, saving its files and typing its
commands.

A ``diff`` block changes a file. A line of a console that doesn't begin with ``$`` must be in the
command's output; ``…`` stands for anything. The words after ``console`` describe the command:
``fails``, ``again`` (it is typed until it prints these lines), ``terminal`` (it is interactive),
``blender`` (it needs bpy). On systems with pseudo-terminals, the interactive command makes the
changes in blocks marked ``later``. tests/skills/test_recorded_runs.py covers blocks marked
``elsewhere``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from callboard_programs.cli import main
from callboard_testing.fake_host import DEADLINE
from cli.terminals import terminal
from e2e.serving import Program, callboard, environment
from needed import missing, needs
from skills.skill_tree import write_files
from skills.wheels import make_wheel
from waiting import until

pytestmark = needs("pxr")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "walkthrough.md").read_text("utf-8")
NAMING = """import re


def fits(name):
    return re.fullmatch(r"[a-z]+_[0-9]{3}", name) is not None
"""
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull]


class Block(NamedTuple):
    language: str
    words: str
    text: str


BLOCKS = [Block(*parts) for parts in re.findall(r"^```(\w+)(.*)\n((?:.*\n)*?)```$", PAGE, re.M)]


class Tracker(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"positions": [[1, 0, 2]]}).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def tracker() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Tracker) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the page assumes."""
    folder = tmp_path / "studio"
    shots = {f"shots/sc{number:03}.usda": "#usda 1.0\n" for number in range(1, 51)}
    write_files(folder, shots)
    make_wheel(folder / "wheels", "studio-naming", "1.0", NAMING)
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    # Bundles run `python`; our pytest plug-ins don't belong to the reader.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(folder)
    return folder


class Reader:
    """A reader who types the page's commands."""

    def __init__(self, studio: Path, tracker: str, capfd: pytest.CaptureFixture[str]) -> None:
        self.home = studio.parent / "home"
        self._tracker = tracker
        self._capfd = capfd
        self._server = ExitStack()
        self._failed_call = ""

    def close(self) -> None:
        self._server.close()

    def follow(self, block: Block) -> None:
        for command, expected in commands(block.text):
            if "terminal" in block.words:
                self._talk(command, expected)
            else:
                self._see(command, expected, block.words)

    def _see(self, command: str, expected: list[str], words: str) -> None:
        fits = re.compile(".*".join(pattern(line) for line in expected), re.DOTALL)
        shown, code = "", 0

        def typed() -> bool:
            nonlocal shown, code
            shown, code = self._type(command)
            return fits.search(shown) is not None and (code != 0) == ("fails" in words)

        until(
            typed,
            lambda: f"{expected}: {command} ended with {code} and printed\n{shown}",
            seconds=DEADLINE if "again" in words else 0,
            pause=0.2,
        )

    def _type(self, line: str) -> tuple[str, int]:
        """Type a line, and return its output and its exit status."""
        line = line.replace("http://tracker.studio", self._tracker)
        line = line.replace("--call ID", f"--call {self._failed_call}")
        program, *words = shlex.split(line)
        self._capfd.readouterr()
        with pytest.MonkeyPatch.context() as variables:
            while "=" in program:
                name, _, value = program.partition("=")
                variables.setenv(name, value)
                program, *words = words
            code = self._start(program, words)
        out, err = self._capfd.readouterr()
        if failed := re.search(r"report --call (\S+)", err):
            self._failed_call = failed[1]
        return out + err, code

    def _start(self, program: str, words: list[str]) -> int:
        if program == "cp":
            shutil.copytree(*words[1:])
        elif program == "pytest":
            return subprocess.run([*PYTEST, *words], check=False).returncode
        elif words[0] == "serve":
            self._server.close()
            self._server.enter_context(Program(callboard(*words), os.environ))
        else:
            assert program == "callboard"
            return main(words)
        return 0

    def _talk(self, line: str, expected: list[str]) -> None:
        _, *words = shlex.split(line)
        with terminal([*PYTEST, *words], self.home) as shown:
            for each in expected:
                prompt, typed, text = each.partition("(Pdb) ")
                if typed:
                    shown.until(typed)
                    shown.type(text)
                else:
                    shown.until(prompt)


def change(path: Path, diff: str) -> None:
    """Replace the lines of a file that ``diff`` removes with those that it adds."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    text = path.read_text("utf-8")
    assert text.count(before) == 1, diff
    after = "".join(line[1:] for line in lines if line[0] != "-")
    path.write_text(text.replace(before, after), encoding="utf-8")


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Return each command, with the lines below it."""
    listed: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            listed.append((line[2:], []))
        else:
            listed[-1][1].append(line)
    return listed


def pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split("…")))


def test_the_page_can_be_followed_from_top_to_bottom(
    studio: Path, tracker: str, capfd: pytest.CaptureFixture[str]
) -> None:
    reader = Reader(studio, tracker, capfd)
    left_out = {"elsewhere", "terminal" if os.name == "nt" else "later"}
    if missing("bpy"):
        left_out.add("blender")
    try:
        for block in BLOCKS:
            if block.language == "diff":
                change(studio / block.words.strip(), block.text)
            elif block.language != "console":
                write_files(studio, {block.words.strip(): block.text})
            elif left_out.isdisjoint(block.words.split()):
                reader.follow(block)
    finally:
        reader.close()
    steps = re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE)
    assert steps == [str(number) for number in range(1, 12)]
