"""Bundles in a process where other plug-ins have already imported older versions of the packages
that the bundles carry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from archives import built

from callboard_programs.cli import main
from needed import need

HERE = Path(__file__).parent
#: The name of our adapter's package, by host.
ADAPTERS = {"maya": "callboard_maya", "houdini": "callboard_houdini", "3dsmax": "callboard_max"}


def run(host: str, old: str, folder: Path, home: Path) -> dict[str, Any]:
    site = {
        str(Path(spec.origin).parents[1])
        for spec in map(find_spec, ("PySide6", "tornado", "bpy"))
        if spec and spec.origin
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HERE / "beside_others.py"), host, old, str(folder), *site],
        capture_output=True,
        text=True,
        timeout=100,
        env={
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "CALLBOARD_HOME": str(home / "callboard"),
            "BLENDER_USER_RESOURCES": str(home / "blender"),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def names(seen: dict[str, Any]) -> list[str]:
    assert "answer" in seen, seen
    return [each["name"] for each in seen["answer"]["objects"]]


@pytest.mark.parametrize("host", ADAPTERS)
def test_it_serves_and_leaves_the_others_alone(host: str, tmp_path: Path) -> None:
    need("qt")
    need("pxr")
    (archive,) = built(host)
    user = ["--dir", str(tmp_path / "user")]
    assert main(["install", host, *user, "--archive", str(archive)]) == 0
    folder = tmp_path / "user" / ("modules" if host == "maya" else ".")
    seen = run(host, "broken", folder, tmp_path)
    assert names(seen) == ["Crate"]
    assert "No client is connected" in seen["panel"]
    assert (seen["used"], seen["replaced"], seen["told"]) == ([], [], [])
    ours = ["callboard", ADAPTERS[host], "callboard_qt", "callboard_ui", "callboard_vendor"]
    assert seen["brought"] == sorted(ours)
    assert any(folder.rglob("*.pyc"))
    assert main(["uninstall", host, *user]) == 0
    assert list(folder.rglob("*callboard*")) == []


@pytest.fixture
def blender() -> list[Path]:
    need("bpy")
    return built("blender")


@pytest.mark.parametrize("kind", ["extension", "addon"])
@pytest.mark.parametrize("old", ["broken", "alike"])
def test_so_do_blenders(kind: str, old: str, blender: list[Path], tmp_path: Path) -> None:
    archive = blender[["extension", "addon"].index(kind)]
    seen = run(f"blender-{kind}", old, archive, tmp_path)
    assert "Crate" in names(seen)
    assert (seen["used"], seen["replaced"], seen["told"]) == ([], [], [])
