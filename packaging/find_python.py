"""Finds a Python that callboard runs on, or explains what is missing and how to fix it. It runs
under any Python that can start bootstrap.py: Python 3.7 syntax, standard library only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.10")
"""The versions that callboard runs on, best first: Blender as a module needs 3.11."""
BLENDER_VERSIONS = ("3.11",)
WINDOWS = os.name == "nt"

PROBE = """
import importlib.util, json, sys
print(json.dumps({
    "path": sys.executable,
    "version": "%d.%d" % sys.version_info[:2],
    "cpython": sys.implementation.name == "cpython",
    "bits": 64 if sys.maxsize > 2**32 else 32,
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
}))
"""


class SetupError(Exception):
    """The environment can't be made. The message explains what is missing and how to fix it."""


class Interpreter(NamedTuple):
    path: str
    version: str
    cpython: bool
    bits: int
    venv: bool
    """True if it can create environments: Debian packages that part separately."""


def probe(command: Sequence[str]) -> Interpreter | None:
    """Return the facts about a Python, or None if the command isn't a working Python."""
    try:
        answer = subprocess.run(
            [*command, "-I", "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=True,
        ).stdout
        return Interpreter(**json.loads(answer))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return None


def commands_for(version: str) -> Iterator[list[str]]:
    """Yield every command on this machine that may start this version of Python."""
    if version == "{}.{}".format(*sys.version_info):
        yield [sys.executable]
    if WINDOWS:
        if shutil.which("py"):
            yield ["py", "-" + version]
        local = os.environ.get("LOCALAPPDATA", "")
        digits = version.replace(".", "")
        yield [str(Path(local, "Programs", "Python", "Python" + digits, "python.exe"))]
        yield [str(Path(local, "Python", f"pythoncore-{version}-64", "python.exe"))]
        programs = os.environ.get("PROGRAMFILES", "")
        yield [str(Path(programs, "Python" + digits, "python.exe"))]
    else:
        for name in ("python" + version, "python3", "python"):
            command = shutil.which(name)
            if command:
                yield [command]
        yield ["/usr/bin/python" + version]
        yield ["/usr/local/bin/python" + version]
        yield ["/opt/homebrew/bin/python" + version]
        yield ["/Library/Frameworks/Python.framework/Versions/" + version + "/bin/python3"]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    program = "python.exe" if WINDOWS else "bin/python"
    for folder in sorted(pyenv.glob("versions/" + version + ".*"), reverse=True):
        yield [str(folder / program)]


def find_python(versions: Sequence[str]) -> Interpreter:
    """Return the first usable Python, in the order of `versions`."""
    unusable: dict[str, Interpreter] = {}
    probed: dict[tuple[str, ...], Interpreter | None] = {}
    for version in versions:
        for command in map(tuple, commands_for(version)):
            if command not in probed:
                probed[command] = probe(command)
            python = probed[command]
            if python is None:
                continue
            if python.version == version and python.cpython and python.bits == 64 and python.venv:
                return python
            unusable[python.path] = python
    raise SetupError(explain_missing_python(versions, list(unusable.values())))


def explain_missing_python(versions: Sequence[str], unusable: Sequence[Interpreter]) -> str:
    """Return a message that lists the Pythons that were found, and explains why they don't fit and
    what to install on this machine."""
    for each in unusable:
        if each.version in versions and each.cpython and each.bits == 64:
            return (
                f"Python {each.version} at {each.path} cannot create virtual environments "
                "(its venv or ensurepip module is missing). "
                f"On Debian or Ubuntu: sudo apt install python3-venv python{each.version}-venv. "
                "Elsewhere: install Python from python.org. Then run this again."
            )
    if len(versions) == 1:
        need = "Python " + versions[0]
        if tuple(versions) == BLENDER_VERSIONS:
            need += ", the only one Blender is published for as a module,"
    else:
        in_order = sorted(versions, key=lambda version: int(version.split(".")[1]))
        need = "Python " + ", ".join(in_order[:-1]) + " or " + in_order[-1]
    seen = "; ".join(describe(each) for each in unusable) or "no other Python"
    install = {
        "darwin": "brew install python@{0}, or the installer from python.org",
        "win32": "winget install Python.Python.{0}, or the installer from python.org",
    }.get(
        sys.platform,
        "sudo apt install python{0} python{0}-venv on Debian or Ubuntu, "
        "sudo dnf install python{0} on Fedora, pyenv install {0} anywhere",
    )
    return (
        f"{need} is needed (64 bit, CPython) and was not found; this machine has: {seen}. "
        f"To fix it: {install.format(versions[0])}. Then run this again."
    )


def describe(interpreter: Interpreter) -> str:
    kind = "" if interpreter.cpython else " (not CPython)"
    bits = " (32 bit)" if interpreter.bits == 32 else ""
    return f"{interpreter.version}{kind}{bits} at {interpreter.path}"


if __name__ == "__main__":
    # For scripts: `find_python.py 3.12` prints that version's path; `--versions` lists all.
    if sys.argv[1:] == ["--versions"]:
        print(*VERSIONS)
        sys.exit()
    try:
        print(find_python(sys.argv[1:] or VERSIONS).path)
    except SetupError as error:
        sys.exit(str(error))
