"""Separate environments, kept between runs, for clients that can't be installed alongside the
tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

from callboard.ground.file_lock import lock
from needed import need

#: Seconds for an installation.
INSTALL_TIMEOUT = 540.0


def python_with(*requirements: str) -> str:
    """Return the path of a Python of this version that has the requirements. Skips the test if pip
    can't get them."""
    folder = _folder(f"python{sys.version_info.major}.{sys.version_info.minor}", requirements)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    with _made_once(folder) as missing:
        if missing:
            # This environment's pip serves the new one as well.
            _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
            pip = (sys.executable, "-m", "pip", "--python", str(python), "install")
            _run([*pip, "--quiet", "--no-compile", *requirements])
    return str(python)


def node_with(script: Path, *packages: str) -> list[str]:
    """Return the command that runs a script with the packages. Skips the test if Node is missing or
    npm can't get the packages."""
    folder = npm_with(*packages)
    # Node looks for packages in the script's folder.
    copy = folder / script.name
    shutil.copyfile(script, copy)
    return [str(shutil.which("node")), str(copy)]


def npm_with(*packages: str) -> Path:
    """Return the folder whose ``node_modules`` contains the packages. Skips the test as
    ``node_with`` does."""
    need("node", "npm")
    folder = _folder("node", packages)
    with _made_once(folder) as missing:
        if missing:
            (folder / "package.json").write_text('{"private": true}', "utf-8")
            quietly = ("--silent", "--no-audit", "--no-fund")
            _run([str(shutil.which("npm")), "install", *quietly, *packages], folder)
    return folder


def _folder(kind: str, requirements: Sequence[str]) -> Path:
    name = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join([kind, *requirements])).strip("-")
    return platformdirs.user_cache_path("callboard-tests", appauthor=False) / name


@contextmanager
def _made_once(folder: Path) -> Iterator[bool]:
    """Yield True if the environment still has to be made, in which case the folder is empty. Other
    tests wait until the environment is ready."""
    ready = folder / "ready"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock_file:
        lock(lock_file.fileno(), INSTALL_TIMEOUT)
        if ready.is_file():
            yield False
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield True
        ready.touch()


def _run(command: list[str], folder: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"can't be installed here: {error}")
    if done.returncode != 0:
        problem = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        pytest.skip(f"can't be installed here: {' '.join(problem)}")
