"""The archives for Maya, Houdini and 3ds Max, and the faults that keep them from being built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from archives import built

import build_bundle
import build_houdini
import build_max
import build_maya
from build_archive import Files
from build_library import check_imports, check_library
from build_requirements import BuildError
from callboard_programs.client import Client

DOUBLES = Path(__file__).parents[1] / "hosts" / "doubles"

LAYOUTS = {
    "maya": build_maya.LAYOUT,
    "houdini": build_houdini.LAYOUT,
    "3dsmax": build_max.LAYOUT,
}
#: The files that each host looks for, and their locations.
LOOKED_FOR = {
    "maya": ["callboard.mod", "callboard/plug-ins/callboard_plugin.py"],
    "houdini": [
        "packages/callboard.json",
        "packages/callboard/MainMenuCommon.xml",
        "packages/callboard/python3.10libs/uiready.py",
        "packages/callboard/python3.11libs/uiready.py",
        "packages/callboard/python3.13libs/uiready.py",
        "packages/callboard/python_panels/callboard.pypanel",
    ],
    "3dsmax": [
        "callboard/Contents/batch/callboard_batch.py",
        "callboard/Contents/macroscripts/callboard.mcr",
        "callboard/Contents/menus/callboard_menu_2024.ms",
        "callboard/Contents/menus/callboard_menu_2025.ms",
        "callboard/Contents/startup/callboard.ms",
        "callboard/Contents/startup/callboard_startup.py",
        "callboard/PackageContents.xml",
    ],
}


def contents(host: str) -> Files:
    (path,) = built(host)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("host", LAYOUTS)
def test_it_holds_what_the_host_looks_for_and_what_that_needs(host: str) -> None:
    files, layout = contents(host), LAYOUTS[host]
    ours = (f"{layout.library}/", f"{layout.ours}/licenses/")
    assert sorted(name for name in files if not name.startswith(ours)) == LOOKED_FOR[host]
    tops = {n.removeprefix(ours[0]).split("/")[0] for n in files if n.startswith(ours[0])}
    assert tops == {*layout.packages, "callboard_vendor"}
    skills = f"{layout.library}/{layout.package}/skills/"
    assert any(name.startswith(skills) and name.endswith("SKILL.md") for name in files)
    assert f"{layout.library}/callboard/skills/bundled/scene/SKILL.md" in files
    # The files that the host reads are where it looks for them, and aren't also among the modules.
    assert not any(b"@VERSION@" in data for data in files.values())
    assert [n for n in files if n.endswith(LOOKED_FOR[host][0].split("/")[-1])] == [
        n for n in files if n in LOOKED_FOR[host][:1]
    ]


@pytest.mark.parametrize("host", LAYOUTS)
def test_licences_come_along_and_changes_are_said(host: str) -> None:
    files, layout = contents(host), LAYOUTS[host]
    about = files[f"{layout.ours}/licenses/THIRD_PARTY.txt"].decode()
    for package in ("tornado", "PyYAML", "fastjsonschema", "platformdirs", "watchdog", "QtPy"):
        assert f"\n{package} " in about
        assert any(name.startswith(f"{layout.ours}/licenses/{package}-") for name in files)
    stream = files[f"{layout.library}/callboard_vendor/tornado/iostream.py"]
    assert b"from callboard_vendor.tornado import" in stream
    assert b"# Changed by callboard" in stream
    # None of our modules imports it.
    assert f"{layout.library}/callboard_vendor/tornado/web.py" not in files


def test_it_serves_without_windows_where_nothing_else_is_installed(tmp_path: Path) -> None:
    (archive,) = built("maya")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path)
    library = tmp_path / build_maya.LAYOUT.library
    process = subprocess.Popen(
        [sys.executable, "-S", "-m", "callboard", "serve", "--host", "maya"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(library), str(DOUBLES)]),
            "CALLBOARD_HOME": str(tmp_path / "home"),
        },
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        assert ready, process.communicate(timeout=20)[1]
        with Client(ready["url"], ready["token"]) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            made = client.request("tools/call", create)["structuredContent"]
        assert made["created"] == ["|Cube"]
        process.terminate()
        _, errors = process.communicate(timeout=30)
        # Windows has no signal that a process could handle.
        assert process.returncode == 0 or os.name == "nt", errors
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ("name", "source", "problem"),
    [
        ("a.py", b"import tornado.web\n", "by its public name"),
        ("a.py", b"def f():\n    from yaml import load\n", "by its public name"),
        ("a.py", b"type A = int\n", r"Python 3\.10 can't read"),
    ],
)
def test_a_module_that_would_need_others_is_refused(name: str, source: bytes, problem: str) -> None:
    with pytest.raises(BuildError, match=problem):
        check_imports(name, source)


@pytest.mark.parametrize("name", ["yaml/__init__.py", "six.py", "callboard/fast.so"])
def test_a_library_with_others_names_or_compiled_parts_is_refused(name: str) -> None:
    check_library(["callboard/a.py", "callboard_vendor/yaml/a.py"], ["callboard"])
    with pytest.raises(BuildError, match=name):
        check_library([name], ["callboard"])


def test_a_layout_that_the_host_would_not_find_is_refused(tmp_path: Path) -> None:
    built("maya")
    elsewhere = replace(build_maya.LAYOUT, static={"module": "elsewhere"})
    with pytest.raises(BuildError, match="is outside of callboard"):
        build_bundle.build_bundle(elsewhere, tmp_path)
