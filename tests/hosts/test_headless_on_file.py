"""An agent's code over a file on disk, in mayapy, or in a program of the same name that runs the
double. Houdini's double can't open a file that another process has saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from callboard.host import FILESYSTEM_WRITE, SCENE_MUTATE, HostIdentity
from needed import need
from serving import served
from skills.scripting_host import ScriptingHost

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs here are shell scripts")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Return a function that makes an application's folder with one program, which is this Python,
    and sets the variable that names the folder."""

    def install(variable: str, program: str) -> Path:
        script = tmp_path / "application" / "bin" / program
        script.parent.mkdir(parents=True)
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
        script.chmod(0o755)
        monkeypatch.setenv(variable, str(script.parents[1]))
        return script

    return install


@pytest.mark.parametrize(
    ("rig", "variable", "program"),
    [("maya", "MAYA_LOCATION", "mayapy"), ("houdini", "HFS", "hython")],
)
def test_the_program_is_the_installations_own(
    rig: str,
    variable: str,
    program: str,
    installed: Callable[[str, str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if rig == "houdini":
        need("pxr")
    module = import_module(f"{rig}_rig")
    getattr(module, f"new_{rig}")(**({"batch": True} if rig == "maya" else {"windows": False}))

    def command() -> tuple[str, ...]:
        with getattr(module, f"{rig}_host")(lambda work: None) as host:
            own: HostIdentity = host.identity
            return own.program

    monkeypatch.delenv(variable, raising=False)
    assert command() == ()
    script = installed(variable, program)
    assert command() == (str(script), "-c")


@pytest.mark.slow
def test_code_runs_over_a_file_of_maya(
    installed: Callable[[str, str], Path], tmp_path: Path
) -> None:
    module = import_module("maya_rig")
    if not module.REAL:
        installed("MAYA_LOCATION", "mayapy")
    module.new_maya(batch=True)
    file, target = tmp_path / "shot.ma", tmp_path / "new.ma"
    with module.maya_host(lambda work: None) as host:
        own: HostIdentity = host.identity
        ports: Any = host.ports
        ports[SCENE_MUTATE].create("cube", "Old", {"size": 1})
        ports[FILESYSTEM_WRITE].save(str(file))

    class Artist(ScriptingHost):
        def __init__(self) -> None:
            super().__init__()
            self._identity = own
            self.ports[FILESYSTEM_WRITE].suffixes = (".ma", ".mb")  # type: ignore[attr-defined]

    before = file.read_bytes()
    code = "cmds.rename('Old', 'New')"
    with served(Artist, skills=True, allow=["script.execute"]) as server, server.client() as client:
        arguments = {"file": str(file), "code": code, "save_as": str(target)}
        result = client.call("script_on_file__execute", arguments)
        assert not result["isError"], result
        answer = result["structuredContent"]
        assert (answer["created"], answer["deleted"]) == (["|New"], ["|Old"])
        assert answer["saved"]["bytes"] == target.stat().st_size
    assert file.read_bytes() == before
