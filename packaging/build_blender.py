"""Builds Blender's two archives: the extension for 4.2 and later, and the add-on for 3.4 to 4.1."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from build_archive import Files, write_zip
from build_library import (
    OLDEST_PYTHON,
    check_imports,
    check_library,
    library,
)
from build_requirements import BuildError, described, targets, wheels
from build_sbom import notices_and_bill
from build_wheel import version, write_wheel

HERE = Path(__file__).parent / "blender"
PACKAGES = ["callboard", "callboard_blender", "callboard_ui"]
#: The packages that a full bundle also carries, for the panel's window.
QT = ["PySide6-Essentials", "shiboken6"]
#: The Pythons of Blender 4.2 to 5.0, and of 5.1.
PYTHONS = ("3.11", "3.13")
#: The folder in the older add-on's archive, and so the name of its module.
LEGACY_NAME = "callboard_addon"
#: The start-up script with which a site serves from the older add-on, in any version of Blender.
SITE_SCRIPT = "serve_callboard.py"


def build(out: Path, full: bool) -> list[Path]:
    """Write both archives into ``out`` and check them. Raises BuildError."""
    return [build_extension(out, full), build_legacy(out, full)]


# -- the extension ---------------------------------------------------------------------------------


def build_extension(out: Path, full: bool) -> Path:
    inside, carried = library(PACKAGES)
    qt = {path.name: path for path in _qt()} if full else {}
    with tempfile.TemporaryDirectory() as folder:
        # A wheel, as Blender requires, with private names for third-party packages: the wheels of
        # all extensions go into one folder, and packages that add-ons bring themselves are found
        # before ours. The archive compresses the wheel as a whole, which makes it a fifth smaller
        # than files that are compressed one by one.
        own = write_wheel(Path(folder), inside, compress=False)
        files: Files = {f"wheels/{own.name}": own.read_bytes()}
    files.update({f"wheels/{name}": path.read_bytes() for name, path in qt.items()})
    files["__init__.py"] = _entry()
    files["blender_manifest.toml"] = _manifest(sorted(files))
    files.update(_notices([*carried, *qt.values()]))
    path = out / f"callboard-blender-{version()}{'-full' if full else ''}.zip"
    write_zip(path, files)
    check_extension(path, full)
    return path


def _qt() -> list[Path]:
    return [path for python in PYTHONS for to in targets(python) for path in wheels(QT, to)]


def _manifest(names: list[str]) -> bytes:
    text = (HERE / "blender_manifest.toml").read_text("utf-8")
    if f'\nversion = "{version()}"\n' not in text:
        raise BuildError(f"blender_manifest.toml doesn't give the version as {version()}")
    listed = "".join(f'  "./{name}",\n' for name in names if name.endswith(".whl"))
    return text.replace("\n[permissions]", f"\nwheels = [\n{listed}]\n\n[permissions]").encode()


def check_extension(path: Path, full: bool) -> None:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    for system in ("linux", "win_amd64", "macosx") if full else ():
        for package in ("pyside6", "shiboken6"):
            if not any(re.match(rf"wheels/{package}.*{system}", name.lower()) for name in names):
                raise BuildError(f"{path.name} doesn't contain a {package} wheel for {system}")
    if f"wheels/callboard-{version()}-py3-none-any.whl" not in names:
        raise BuildError(f"{path.name} doesn't contain callboard's wheel for version {version()}")
    strays = [n for n in names if not n.startswith(("wheels/", "licenses/")) and "/" in n]
    if strays:
        raise BuildError(f"{path.name} has unexpected files: {', '.join(strays)}")
    if not {"__init__.py", "blender_manifest.toml"} <= set(names):
        raise BuildError(f"{path.name} doesn't contain __init__.py and blender_manifest.toml")
    tool = blender_tool()
    if tool is None:
        print(
            f"build.py: {path.name} is complete. Only Blender's own check of the manifest was "
            "skipped, because it needs the module bpy. You don't have to do anything: Blender "
            "runs that check when it installs the add-on",
            file=sys.stderr,
        )
        return
    command = [sys.executable, str(tool), "validate", str(path)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", timeout=120
    )
    if done.returncode:
        raise BuildError(f"Blender refuses {path.name}: {done.stdout}{done.stderr}")


def blender_tool() -> Path | None:
    """Return Blender's own program for extensions, which is part of the bpy module."""
    spec = find_spec("bpy")
    if spec is None or spec.origin is None:
        return None
    tools = Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    return next(tools, None)


# -- the add-on for older versions -----------------------------------------------------------------


def build_legacy(out: Path, full: bool = False) -> Path:
    inside, carried = library(PACKAGES)
    files: Files = {f"lib/{name}": data for name, data in inside.items()}
    files["__init__.py"] = _entry()
    files[SITE_SCRIPT] = (HERE / SITE_SCRIPT).read_bytes()
    if full:
        qt = {path.name: path for to in targets(OLDEST_PYTHON) for path in wheels(QT, to)}
        files.update({f"wheels/{name}": path.read_bytes() for name, path in qt.items()})
        carried = [*carried, *qt.values()]
    files.update(_notices(carried))
    path = out / f"callboard-blender-{version()}-legacy{'-full' if full else ''}.zip"
    write_zip(path, {f"{LEGACY_NAME}/{name}": data for name, data in files.items()})
    _check_legacy(path)
    return path


def _notices(carried: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield every license. Qt's own wheels name their license, but don't contain its text."""
    bundled = [described(path) for path in carried]
    yield from notices_and_bill(bundled)
    if any("LGPL" in one.license and not one.texts for one in bundled):
        for text in sorted((HERE / "licenses").iterdir()):
            yield f"licenses/Qt/{text.name}", text.read_bytes()


def _entry() -> bytes:
    text = (HERE / "addon_init.py").read_text("utf-8")
    numbers = ", ".join(version().split("."))
    if f'"version": ({numbers})' not in text:
        raise BuildError(f"addon_init.py doesn't give the version as ({numbers})")
    return text.encode()


def _check_legacy(path: Path) -> None:
    within = f"{LEGACY_NAME}/lib/"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        check_library([n.removeprefix(within) for n in names if n.startswith(within)], PACKAGES)
        for name in names:
            if not name.startswith(f"{LEGACY_NAME}/"):
                raise BuildError(f"{name} is outside of the add-on's folder")
            if name.endswith(".py"):
                check_imports(name, archive.read(name))
