"""Each host's first steps, typed as they stand there by who has a home with nothing in it.

What makes the environment is left to others: tests/packaging/test_bootstrap.py, and for Blender's
window tests/e2e/test_setup_blender.py. ``elsewhere`` marks such blocks, ``blender`` those that want
bpy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from e2e.serving import PROJECT, Program, environment

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.name == "nt", reason="the lines are a POSIX shell's"),
]

_BLOCK = re.compile(r"^ *```console(.*)\n((?:.*\n)*?) *```$", re.M)
#: How the pages start callboard, and how this test does.
_STARTS = ("python3.11 packaging/bootstrap.py", "~/callboard/bin/callboard", "callboard")


class Newcomer:
    """Whose home and folder are empty, and who has ``callboard`` on the path."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.home = folder
        self._stack = stack
        program = folder / "bin" / "callboard"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m callboard "$@"\n')
        program.chmod(0o755)
        path = os.pathsep.join((str(program.parent), os.environ["PATH"]))
        self._env = {**environment(folder / "data"), "HOME": str(folder), "PATH": path}

    def types(self, line: str) -> str:
        """What it prints, to stdout and stderr; what serves stays."""
        for start in _STARTS:
            if line.startswith(start):
                line = "callboard" + line.removeprefix(start)
        if line.startswith("callboard serve"):
            command = ["bash", "-c", f"exec {line}"]
            self._stack.enter_context(Program(command, self._env, self.home))
            return ""
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.home, env=self._env, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def steps(page: str, lacking: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of its first section, with the lines that it prints."""
    text = (PROJECT / "docs" / page).read_text("utf-8")
    first = text.split("\n## Get started\n")[1].split("\n## ")[0]
    for words, block in _BLOCK.findall(first):
        if {"elsewhere", lacking}.isdisjoint(words.split()):
            for part in re.split(r"^\$ ", textwrap.dedent(block), flags=re.M)[1:]:
                command, *printed = part.splitlines()
                yield command, printed


def follow(newcomer: Newcomer, page: str) -> None:
    for command, printed in steps(page, "" if find_spec("bpy") else "blender"):
        fits = ".*".join(re.escape(each) for line in printed for each in line.split("…"))
        shown = newcomer.types(command)
        assert re.search(fits, shown, re.DOTALL), f"{command}\n{shown}"


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    with ExitStack() as stack:
        yield Newcomer(tmp_path, stack)


def test_an_openusd_stage(newcomer: Newcomer) -> None:
    pytest.importorskip("pxr")
    follow(newcomer, "openusd.md")
    assert 'def Sphere "ball"' in (newcomer.home / "show" / "first.usda").read_text()
    assert "callboard" in (newcomer.home / ".claude.json").read_text()


def test_blender_without_a_window(newcomer: Newcomer) -> None:
    pytest.importorskip("bpy")
    follow(newcomer, "bpy.md")
    assert (newcomer.home / "show" / "ball.png").stat().st_size > 1000


def test_blender_that_was_started_by_hand(newcomer: Newcomer) -> None:
    """Step 3 is a person's; a Blender without a window stands in."""
    pytest.importorskip("bpy")
    newcomer.types("callboard serve --host blender")
    follow(newcomer, "blender.md")
