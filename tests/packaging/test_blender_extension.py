"""The archives for Blender, which real Blenders install."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import archives
import pytest

import build_blender
from build_requirements import CACHE
from build_vendored import bare, private
from needed import need

HERE = Path(__file__).parent
#: Pythons with other versions of the bpy module, besides the one that runs these tests.
PYTHONS = [sys.executable, *os.environ.get("CALLBOARD_BPY_PYTHONS", "").split(os.pathsep)]


@pytest.fixture
def built() -> list[Path]:
    return archives.built("blender")


def test_one_wheel_fits_every_machine_and_brings_licences(built: list[Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
        manifest = archive.read("blender_manifest.toml").decode()
        (wheel,) = [name for name in names if name.startswith("wheels/")]
        with zipfile.ZipFile(io.BytesIO(archive.read(wheel))) as opened:
            tops = {name.split("/")[0] for name in opened.namelist()}
    assert wheel.endswith("-py3-none-any.whl")
    assert f'"./{wheel}"' in manifest
    own = {"callboard", "callboard_blender", "callboard_ui", "callboard_vendor"}
    assert {top for top in tops if not top.endswith(".dist-info")} == own
    for package in ("tornado", "PyYAML", "fastjsonschema", "platformdirs", "watchdog"):
        assert any(name.startswith(f"licenses/{package}-") for name in names)


def test_the_older_addon_imports_nothing_by_anothers_name(built: list[Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        tops = {name.split("/")[2] for name in archive.namelist() if "/lib/" in name}
    assert tops == {"callboard", "callboard_blender", "callboard_ui", "callboard_vendor"}


def test_the_full_archives_carry_qt_for_every_system(tmp_path: Path) -> None:
    if len(list(CACHE.glob("pyside6_essentials-*"))) < 3:
        pytest.skip("Qt for every system is not in build/wheels; build with --full first")
    for path in build_blender.build(tmp_path, True):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        for tag in ("manylinux", "win_amd64", "macosx"):
            assert any("/pyside6_essentials-" in name and tag in name for name in names)
        assert any(f"/{name}".endswith("/licenses/Qt/LGPL-3.0.txt") for name in names)
        path.unlink()  # The archive is 270 MB.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import yaml\n", "from callboard_vendor import yaml\n"),
        (
            "import os, yaml.nodes, yaml as y\n",
            "import os; import callboard_vendor.yaml.nodes; from callboard_vendor import yaml; "
            "import callboard_vendor.yaml as y\n",
        ),
        (
            "from yaml.nodes import (\n  A,\n  B as C,\n)\nx\n",
            "from callboard_vendor.yaml.nodes import A, B as C\n\n\n\nx\n",
        ),
        ("if x: import yaml; y()\n", "if x: from callboard_vendor import yaml; y()\n"),
        (
            "from . import yaml\nimport yamlike\ns = 'import yaml'\n",
            "from . import yaml\nimport yamlike\ns = 'import yaml'\n",
        ),
    ],
)
def test_imports_are_rewritten(before: str, after: str) -> None:
    assert private(before.encode(), frozenset({"yaml"})).decode() == after


def test_docstrings_and_comments_are_left_out_but_notices_of_copyright() -> None:
    before = (
        "# Copyright of its makers\n\n"
        '"""What it is,\nfor whom."""\n'
        "x = '# no comment'  # why\n"
        "# Copyright of a part\n"
        "def f():\n"
        '    """Does é."""; y = 1\n'
        '    return x, """a\nb"""\n'
        "class A: 'alone'\n"
    )
    after = (
        "# Copyright of its makers\n\n"
        "''\n\n"
        "x = '# no comment'\n"
        "# Copyright of a part\n"
        "def f():\n"
        "    ''; y = 1\n"
        '    return x, """a\nb"""\n'
        "class A: ''\n"
    )
    assert bare(before.encode()).decode() == after


@pytest.mark.timeout(600)
@pytest.mark.parametrize("python", [python for python in PYTHONS if python])
def test_install_enable_serve_disable(built: list[Path], tmp_path: Path, python: str) -> None:
    if python == sys.executable:
        need("bpy")
    user = tmp_path / "user"
    done = subprocess.run(
        [python, "-I", str(HERE / "blender_cycles.py"), str(built[0]), "8"],
        capture_output=True,
        text=True,
        timeout=500,
        env={
            **os.environ,
            "BLENDER_USER_RESOURCES": str(user),
            "CALLBOARD_HOME": str(tmp_path / "callboard"),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    cycles = json.loads(done.stdout.splitlines()[-1] if done.stdout else "{}")
    assert cycles["after"] == cycles["before"]
    # If one enabled add-on leaks, each round adds some 2,200 of Python's memory blocks, or 300 kB.
    # But Python takes memory from the system in steps of several megabytes.
    assert cycles["blocks"][-1] - cycles["blocks"][4] < 3000, cycles["blocks"]
    assert cycles["memory"][-1] - cycles["memory"][4] < 12, cycles["memory"]
    ours = ("callboard", "tornado", "yaml", "fastjsonschema", "platformdirs", "watchdog")
    assert [p for p in (user / "extensions").rglob("*") if p.name.lower().startswith(ours)] == []
    assert list((tmp_path / "callboard" / "instances").iterdir()) == []


#: Prints where callboard is served from: at first, after another application template is loaded,
#: and after the user's own copy is enabled and disabled.
_SERVED = """
import os, sys, bpy
def served():
    print(hasattr(bpy.types, "CALLBOARD_OT_start") and sys.modules["callboard_blender"].__file__)
served()
bpy.ops.wm.read_homefile(app_template="Sculpting")
served()
sys.path.insert(0, sys.argv[1])
import own_copy
own_copy.register()
own_copy.unregister()
served()
sys.stdout.flush()
os._exit(0)  # The module bpy hangs at its end once it has read a template.
"""


def test_a_site_serves_everybody_the_version_that_its_file_names(
    built: list[Path], tmp_path: Path
) -> None:
    need("bpy")
    site, user = tmp_path / "site", tmp_path / "user"
    for version in ("1", "2"):
        with zipfile.ZipFile(built[1]) as archive:
            archive.extractall(site / "versions" / version / "blender")
    addon = site / "versions" / "1" / "blender" / "callboard_addon"
    (site / "blender" / "startup").mkdir(parents=True)
    shutil.copy(addon / "serve_callboard.py", site / "blender" / "startup")
    shutil.copytree(addon, user / "own_copy")
    for version, says in (("1", "versions/1/"), ("2", "versions/2/"), ("3", "not serving")):
        (site / "version").write_text(f"{version}\n")
        done = subprocess.run(
            [sys.executable, "-c", _SERVED, str(user)],
            capture_output=True,
            text=True,
            timeout=100,
            env={
                **os.environ,
                "BLENDER_SYSTEM_SCRIPTS": str(site / "blender"),
                "BLENDER_USER_RESOURCES": str(tmp_path / "blender"),
                "CALLBOARD_HOME": str(tmp_path / "callboard"),
            },
            check=False,
        )
        told = done.stdout.replace("\\", "/")
        if version == "3":
            assert says in told, done.stderr
        else:
            assert [line for line in told.splitlines() if line.startswith(str(site))] == [
                f"{site}/{says}blender/callboard_addon/lib/callboard_blender/__init__.py"
            ] * 3, done.stdout + done.stderr
            assert "own_copy stays idle" in told
