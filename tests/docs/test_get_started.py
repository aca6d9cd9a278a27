"""A newcomer with an empty home follows the pages about the hosts on this machine, the first skill
and the first host, and types everything unchanged.

Other tests cover the blocks that make the environment: tests/packaging/test_bootstrap.py and, for
Blender's window, tests/e2e/test_setup_blender.py. ``elsewhere`` marks such blocks, ``blender``
those that need bpy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.serving import PROJECT, Program, environment
from needed import missing, need
from skills.skill_tree import write_files

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.name == "nt", reason="the lines are a POSIX shell's"),
]

_BLOCK = re.compile(r"^ *```(\w+)(.*)\n((?:.*\n)*?) *```$", re.M)
#: The ways in which the pages start callboard, and last, this test's way.
_STARTS = ("python3 packaging/bootstrap.py", "~/callboard-venv/bin/callboard", "callboard")


class Newcomer:
    """A newcomer with an empty home and folder, and ``callboard`` and ``pytest`` on the path."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.home = folder
        self._stack = stack
        pytest_alone = f"-m pytest -p no:cacheprovider -c {os.devnull}"
        programs = {"callboard": "-m callboard", "pytest": pytest_alone, "python": ""}
        for name, starts in programs.items():
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {starts} "$@"\n')
            program.chmod(0o755)
        path = os.pathsep.join((str(program.parent), os.environ["PATH"]))
        self._env = {**environment(folder / "data"), "HOME": str(folder), "PATH": path}
        # Our pytest plug-ins don't belong to the reader.
        self._env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def follows(self, page: str) -> None:
        """Follow the parts of a page that this machine can run, from top to bottom."""
        text = (PROJECT / "docs" / page).read_text("utf-8")
        left_out = {"elsewhere", "blender" if missing("bpy") else ""}
        for language, line, block in _BLOCK.findall(text):
            words = line.split()
            if language != "console" and (PROJECT / words[0]).is_file():
                assert block in (PROJECT / words[0]).read_text("utf-8")
            elif language != "console":
                write_files(self.home, {words[0]: block})
            elif left_out.isdisjoint(words):
                for part in re.split(r"^\$ ", textwrap.dedent(block), flags=re.M)[1:]:
                    command, *printed = part.splitlines()
                    self.sees(printed, self.types(command, fails="fails" in words))

    def types(self, line: str, *, fails: bool = False) -> str:
        """Type a line, and return its output, stdout and stderr. A server keeps running."""
        for start in _STARTS:
            if line.startswith(start):
                line = "callboard" + line.removeprefix(start)
        if line.startswith(("callboard serve", "python ")):
            command = ["bash", "-c", f"exec {line}"]
            self._stack.enter_context(Program(command, self._env, self.home))
            return line
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.home, env=self._env, capture_output=True, text=True
        )
        shown = f"{line}\n{done.stdout}{done.stderr}"
        assert (done.returncode != 0) == fails, shown
        return shown

    def sees(self, printed: list[str], shown: str) -> None:
        fits = ".*".join(re.escape(each) for line in printed for each in line.split("…"))
        assert re.search(fits, shown, re.DOTALL), shown


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    with ExitStack() as stack:
        yield Newcomer(tmp_path, stack)


def test_an_openusd_stage(newcomer: Newcomer) -> None:
    need("pxr")
    newcomer.follows("openusd.md")
    assert 'def Sphere "ball"' in (newcomer.home / "show" / "first.usda").read_text()
    assert "callboard" in (newcomer.home / ".claude.json").read_text()


def test_blender_without_a_window(newcomer: Newcomer) -> None:
    need("bpy")
    newcomer.follows("bpy.md")
    assert (newcomer.home / "show" / "ball.png").stat().st_size > 1000


def test_blender_that_was_started_by_hand(newcomer: Newcomer) -> None:
    """In step 3, a person starts Blender. Here, a headless Blender is started instead."""
    need("bpy")
    newcomer.types("callboard serve --host blender")
    newcomer.follows("blender.md")
    assert (newcomer.home / "look.png").read_bytes().startswith(b"\x89PNG")


def test_a_skill_in_ten_minutes(newcomer: Newcomer) -> None:
    need("pxr")
    newcomer.follows("first-skill.md")


def test_a_host_in_an_afternoon(newcomer: Newcomer) -> None:
    examples = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        PROJECT / "examples" / "host", newcomer.home / "examples" / "host", ignore=examples
    )
    newcomer.follows("host.md")


def test_a_host_in_a_qt_application(newcomer: Newcomer) -> None:
    newcomer.follows("host-qt.md")
