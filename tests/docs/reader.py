"""A reader who follows a page from top to bottom, saves its files, types its commands and makes its
calls.

A block's language, and the words after it, define the kind of block:

- ``console``: each line is typed in a shell. If some lines begin with ``$ ``, only those are typed,
  and the other lines must be in the command's output. ``…`` stands for any text, and ``a6a9a5e4…``
  for an id. Servers (``serve``, ``gateway``, ``farm local``, ``farm worker``) run until the end of
  the page. ``fails`` means that the commands end with an error. ``blender`` means that they need
  bpy, ``farm`` that they need Dask, and ``openssl`` and ``curl`` that they need that program.
- ``json TOOL``: the arguments of a call to that tool.
- ``json FILE``, and any other language with a file's name: the content of that file, or a part of
  it if callboard has that file.
- ``json`` alone: the shape of the last command's output.
- ``python``: code that is run after the other Python code above it on the page.
- ``elsewhere``, after any of these: a different test runs the block. tests/docs/test_every_block.py
  names that test.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from docs.blocks import PROJECT, Block, blocks, commands
from docs.shape import alike, differing, printed_values, values
from e2e.serving import DEADLINE, Program, environment
from needed import missing
from skills.skill_tree import write_files
from waiting import until

#: The words for a block's requirements, and the module or program that each stands for.
WANTED = {"blender": "bpy", "farm": "distributed", "openssl": "openssl", "curl": "curl"}
_SERVES = re.compile(
    r"callboard (?:serve|gateway(?!.* --open)|farm local|farm worker)\b|examples/\S+\.py"
)
#: A line that only sets variables. They stay set.
_VARIABLES = re.compile(r"((?:\w+=\S* ?)+)(?: +#.*)?")
#: An id as a page abbreviates it. After that, the abbreviation stands for the first id that was
#: printed, and ``_WHOLE_ID`` matches that id.
_ID = re.compile(r"\b[0-9a-f]{8}…")
_WHOLE_ID = re.compile(r"\b[0-9a-f]{32}\b")
_ANYTHING = re.compile(r"\b[0-9a-f]{8}…|…")
#: The Python programs of applications, which the doubles replace.
_PYTHONS = ("python", "mayapy", "hython")


class Reader:
    """A reader at a separate shell, in an empty folder, with an empty home."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder / "work"
        self.home = folder / "home"
        self.servers: list[Program] = []
        #: Texts on the page, each with the text that replaces it on this machine.
        self.here: dict[str, str] = {}
        self.stack = stack
        self._running: dict[str, ExitStack] = {}
        self._printed = ""
        #: The file with the last command's stderr if the command is a server, which may write more
        #: at any time.
        self._says: Path | None = None
        self._names: dict[str, Any] = {"__name__": "__docs__"}
        self.folder.mkdir()
        self.home.mkdir()
        self.env = self._environment(folder / "bin")

    def _environment(self, programs: Path) -> dict[str, str]:
        doubles = PROJECT / "tests" / "hosts" / "doubles"
        for name in _PYTHONS:
            write_program(programs / name, f'PYTHONPATH="$PYTHONPATH:{doubles}" {sys.executable}')
        write_program(programs / "callboard", f"{sys.executable} -m callboard")
        write_program(programs / "pytest", f"{sys.executable} -m pytest -c {os.devnull}")
        ours = str(Path(sys.executable).parent)
        return {
            **environment(self.home / "callboard"),
            "HOME": str(self.home),
            "PATH": os.pathsep.join((str(programs), ours, os.environ["PATH"])),
            # Our pytest plug-ins don't belong to the reader.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            # The reader's folders stay as the page leaves them.
            "PYTHONPYCACHEPREFIX": sys.pycache_prefix or str(Path(sys.prefix, "bytecode")),
            "NO_PROXY": "127.0.0.1",
        }

    def follow(self, page: str) -> None:
        """Follow every part of a page that this machine can run. Raises AssertionError or
        TimeoutError at the first difference from the page."""
        lacking = {word for word, name in WANTED.items() if missing(name)}
        for block in blocks(page):
            if lacking.isdisjoint(block.words.split()) and "elsewhere" not in block.words.split():
                self._do(block)

    def type(self, line: str, *, fails: bool = False) -> str:
        """Type a line, and return its output (stdout and stderr)."""
        line = self._as_here(line)
        if variables := _VARIABLES.fullmatch(line):
            self.env.update(word.split("=", 1) for word in shlex.split(variables[1]))
        elif _SERVES.search(line):
            self._serve(line)
        else:
            done = self._shell(line)
            self._says = None
            self._printed = done.stdout + done.stderr
            assert (done.returncode != 0) == fails, f"{line}\n{self._printed}"
        return self._printed

    def _shell(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def _serve(self, line: str) -> None:
        kind = _SERVES.findall(line)[0]
        if kind in self._running:  # Press Ctrl+C, as a user would before starting another server.
            self._running[kind].close()
        self._running[kind] = self.stack.enter_context(ExitStack())
        self._says = self.folder.parent / f"stderr_{len(self.servers)}"
        self._says.touch()  # tee may create the file later.
        shell = ["bash", "-c", f"exec env {line} 2> >(tee {self._says} >&2)"]
        program = Program(shell, self.env, self.folder)
        self.servers.append(self._running[kind].enter_context(program))
        self._printed = program.line

    def _do(self, block: Block) -> None:
        words = [word for word in block.words.split() if word not in WANTED]
        if block.language == "console":
            for command, expected in commands(block.text):
                self.type(command, fails="fails" in words)
                self._see(block, expected)
        elif words and (PROJECT / words[0]).is_file():
            assert block.text in (PROJECT / words[0]).read_text("utf-8"), block
        elif words and ("." in words[0] or "/" in words[0]):
            write_files(self.folder, {words[0]: block.text})
        elif block.language == "json" and words:
            self._call(words[0], block.text)
        elif block.language == "json":
            for shape in values(block.text):
                self._compare(block, shape)
        elif block.language == "python":
            exec(compile(block.text, str(block), "exec"), self._names)
        else:
            raise AssertionError(f"{block}: this reader has no rule for this kind of block")

    def _see(self, block: Block, expected: list[str]) -> None:
        texts = []
        for line in expected:
            if line.startswith("{"):
                self._compare(block, next(values(line)))
            else:
                texts.extend(_ANYTHING.split(self._as_here(line)))
        until(
            lambda: in_order(texts, self._shown()),
            lambda: f"{block}: {expected}\n{self._shown()}",
            seconds=DEADLINE if self._says else 0,
        )
        for shown in _ID.findall(" ".join(expected)):
            self.here[shown] = _WHOLE_ID.findall(self._shown())[0]

    def _shown(self) -> str:
        return self._printed + (self._says.read_text("utf-8") if self._says else "")

    def _as_here(self, line: str) -> str:
        for shown, real in self.here.items():
            line = line.replace(shown, real)
        return line

    def _compare(self, block: Block, shape: Any) -> None:
        """Compare a shape with the last output and the last server's ready line."""
        ready = self.servers[-1].line if self.servers else ""
        printed = printed_values(self._printed) + printed_values(ready)
        fitting = [each for each in printed if alike(shape, each)]
        assert fitting, f"{block}: no output has this shape: {shape}\n{self._printed}"
        self.here.update(differing(shape, fitting[0]))

    def _call(self, tool: str, arguments: str) -> None:
        (self.folder / "arguments.json").write_text(arguments, encoding="utf-8")
        self.type(f"callboard call {tool} --json @arguments.json")


def in_order(texts: list[str], shown: str) -> bool:
    """Return whether the output contains the texts in this order."""
    for text in filter(None, texts):
        _, text_there, shown = shown.partition(text)
        if not text_there:
            return False
    return True


def write_program(path: Path, starts: str) -> None:
    """Write a program that starts another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec env {starts} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
