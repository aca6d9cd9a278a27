"""Tests the published files as a user gets them, in an otherwise empty environment, outside of any
checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path

from build_requirements import BuildError

_PATIENCE = 600
#: The names of hosts' user folders, for hosts that aren't installed here.
_FOLDERS = {"maya": "2026", "houdini": "houdini20.5", "3dsmax": "ApplicationPlugins"}


def try_wheel(wheel: Path) -> Iterator[str]:
    """Install the wheel as pipx does, and use it. Yield a line for each part that worked. Raises
    BuildError."""
    with _environment() as (python, home):
        _run([python, "-m", "pip", "install", "--quiet", str(wheel)])
        yield f"{wheel.name} installs"
        _run([python, "-m", "pip", "check"])
        callboard = [python, "-m", "callboard"]
        yield _run([*callboard, "--version"], home).strip()
        for host, folder in _FOLDERS.items():
            (home / folder).mkdir()
            there = ["--dir", str(home / folder)]
            for command in ("install", "uninstall"):
                done = _run([*callboard, command, host, *there], home)
                yield f"{command} {host}: {done.splitlines()[0]}"
        entry = json.loads(_run([*callboard, "config", "cursor"], home))
        command = entry["mcpServers"]["callboard"]["command"]
        yield f"config cursor starts {Path(command).name}"
        yield f"gateway is running at {_gateway(callboard, home)}"


def try_source(source: Path, wheel: Path) -> Iterator[str]:
    """Have pip build a wheel from ``source``, and check that its content is the same as
    ``wheel``'s. Raises BuildError."""
    with _environment() as (python, home):
        _run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(home), str(source)])
        (built,) = home.glob("*.whl")
        ours, theirs = _contents(wheel), _contents(built)
        if ours != theirs:
            differing = sorted(ours.items() ^ theirs.items())[:6]
            raise BuildError(f"the wheel that pip builds from {source.name} differs: {differing}")
        yield f"pip builds a wheel from {source.name} with the same {len(ours)} files and facts"


def try_bundle(bundle: Path) -> Iterator[str]:
    """Start the bundle as an application does, and initialize a session. Raises BuildError."""
    with _environment("--without-pip") as (python, home):
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(home / "bundle")
            server = json.loads(archive.read("manifest.json"))["server"]["mcp_config"]
        arguments = [each.replace("${__dirname}", str(home / "bundle")) for each in server["args"]]
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "release.py", "version": "1"},
        }
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        answer = json.loads(_run([python, *arguments], home, json.dumps(hello) + "\n"))
        yield f"{bundle.name} answers as {answer['result']['serverInfo']['name']}"


def _contents(wheel: Path) -> dict[str, str]:
    """Return the names of the wheel's files, each with a checksum, and the facts that installers
    use."""
    with zipfile.ZipFile(wheel) as archive:
        contents = {
            name: str(archive.getinfo(name).CRC)
            for name in archive.namelist()
            if ".dist-info/" not in name
        }
        about = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        stated = HeaderParser().parsestr(archive.read(about).decode("utf-8"))
        points = about.replace("METADATA", "entry_points.txt")
        contents["entry points"] = " ".join(archive.read(points).decode().split())
    for name in ("Name", "Version", "License-Expression", "Requires-Python", "Provides-Extra"):
        contents[name] = str(sorted(stated.get_all(name, [])))
    needs = (re.sub(r"[\s()]", "", each) for each in stated.get_all("Requires-Dist", []))
    contents["Requires-Dist"] = str(sorted(each.replace('"', "'") for each in needs))
    return contents


@contextmanager
def _environment(*options: str) -> Iterator[tuple[str, Path]]:
    """Yield the Python of a new environment, and a new home."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "environment"
        _run([sys.executable, "-m", "venv", *options, str(place)])
        programs = place / ("Scripts" if sys.platform == "win32" else "bin")
        home = Path(folder) / "home"
        home.mkdir()
        yield str(programs / "python"), home


def _run(command: list[str], home: Path | None = None, told: str = "") -> str:
    """Run a command, and return its output. ``told`` is its input. Raises BuildError if it
    fails."""
    done = subprocess.run(
        command,
        cwd=home,
        env=_variables(home),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        input=told,
        timeout=_PATIENCE,
    )
    if done.returncode:
        raise BuildError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def _variables(home: Path | None) -> dict[str, str]:
    """Return this process's environment variables without those that configure Python, callboard or
    XDG's folders. ``home``, if given, becomes the user's home."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CALLBOARD", "XDG"))}
    if home is not None:
        kept.update(HOME=str(home), USERPROFILE=str(home))
    return kept


def _gateway(callboard: list[str], home: Path) -> str:
    command = [*callboard, "gateway", "--port", "0"]
    with subprocess.Popen(
        command, cwd=home, env=_variables(home), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            return str(json.loads(process.stdout.readline())["url"])
        except (ValueError, KeyError):
            raise BuildError("the gateway did not start") from None
        finally:
            process.terminate()
