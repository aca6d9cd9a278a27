"""Installs callboard into Blender, up to version 4.1 as an add-on in the user folder, and from 4.2
on as an extension that Blender itself installs. Blender is started without a window to enable
callboard and to save the preferences."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from callboard.errors import HostError
from callboard_programs.install.archive import built, contents
from callboard_programs.install.placed_files import is_placed, place, remove

#: The add-on's folder and module.
ADDON = "callboard_addon"
EXTENSION = "callboard"
OLDEST, FIRST_EXTENSION = (3, 4), (4, 2)
#: A file in the add-on's folder, made once Blender has enabled the add-on. Blender's own record of
#: enabled add-ons is binary.
_ENABLED = ".callboard-enabled"
#: Seconds allowed for Blender to enable an add-on and save its preferences.
_PATIENCE = 180

_ENABLE = "bpy.ops.preferences.addon_enable(module={module!r})"
_DISABLE = "bpy.ops.preferences.addon_disable(module={module!r})"
_INSTALL = (
    "bpy.ops.extensions.package_install_files("
    "filepath={archive!r}, repo='user_default', enable_on_install=True, overwrite=True)"
)
_REMOVE = (
    "bpy.ops.extensions.package_uninstall(repo_index=[r.module for r in"
    " bpy.context.preferences.extensions.repos].index('user_default'), pkg_id='callboard')"
)


@dataclass(frozen=True)
class Blender:
    """One version of Blender: its user folder, and its program if that is on the path."""

    version: tuple[int, int]
    folder: Path
    program: str | None
    #: True when the user named the folder, which Blender might not find on its own.
    elsewhere: bool = False

    @property
    def name(self) -> str:
        return f"Blender {self.version[0]}.{self.version[1]}"

    @property
    def takes_extensions(self) -> bool:
        return self.version >= FIRST_EXTENSION

    @property
    def module(self) -> str:
        return f"bl_ext.user_default.{EXTENSION}" if self.takes_extensions else ADDON

    @property
    def place(self) -> Path:
        if self.takes_extensions:
            return self.folder / "extensions" / "user_default" / EXTENSION
        return self.folder / "scripts" / "addons" / ADDON


def install(folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
    """Install into one version, or into all that are found. Raises HostError."""
    lines: list[str] = []
    for blender in _blenders(folder):
        chosen = archive or built("blender", "" if blender.takes_extensions else "-legacy")
        lines += (_install_extension if blender.takes_extensions else _install_addon)(
            blender, chosen, dry_run
        )
    return lines


def uninstall(folder: Path | None, dry_run: bool) -> list[str]:
    """Remove everything that ``install`` installed. Raises HostError."""
    lines: list[str] = []
    for blender in _blenders(folder):
        if blender.takes_extensions:
            lines += _uninstall_extension(blender, dry_run)
        elif is_placed(blender.place):
            lines += _run(blender, f"disable it in {blender.name}", _DISABLE, dry_run)
            if not dry_run:
                (blender.place / _ENABLED).unlink(missing_ok=True)
            lines += remove(blender.place, dry_run=dry_run)
    return lines


def user_folders() -> dict[str, Path]:
    """Return the user folder of each version on this machine."""
    try:
        return {blender.name: blender.folder for blender in _blenders(None)}
    except HostError:
        return {}


def rewritten(folder: Path) -> list[Path]:
    """Return the user's preferences file, in which Blender records enabled add-ons."""
    return [folder / "config" / "userpref.blend"]


def made_elsewhere() -> list[Path]:
    """Return the thumbnail folders, outside the user folder, that Blender may make when it starts.
    On Linux all programs share them. On other systems they are in the user's home folder."""
    thumbnails = Path.home() / ".thumbnails"
    if sys.platform == "linux":
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        thumbnails = Path(cache, "thumbnails")
    return [thumbnails / name for name in ("normal", "large", "fail/blender")]


def background_server() -> tuple[list[str], dict[str, str]] | None:
    """Return the command that starts the Blender on the path, without a window and with the server,
    and the command's environment. Return None if there is no Blender on the path."""
    blender = next((one for one in _blenders(None) if one.program is not None), None)
    if blender is None or blender.program is None:
        return None
    code = "import bpy; bpy.ops.callboard.serve()"
    return [blender.program, "--background", "-noaudio", "--python-expr", code], dict(
        _environment(blender)
    )


def _install_addon(blender: Blender, archive: Path, dry_run: bool) -> list[str]:
    files = {
        name.partition("/")[2]: data
        for name, data in contents(archive).items()
        if name.startswith(f"{ADDON}/")
    }
    if "__init__.py" not in files:
        raise HostError(f"{archive.name} is not the add-on for {blender.name}")
    lines = place(blender.place, files, dry_run=dry_run)
    enabled = blender.place / _ENABLED
    if lines or not enabled.is_file():
        lines += _run(blender, f"enable it in {blender.name}", _ENABLE, dry_run)
        if not dry_run:
            enabled.touch()
    return lines


def _install_extension(blender: Blender, archive: Path, dry_run: bool) -> list[str]:
    files = contents(archive)
    if "blender_manifest.toml" not in files:
        raise HostError(f"{archive.name} is not the extension for {blender.name}")
    if _is_extension(blender) and all(
        (blender.place / name).is_file() and (blender.place / name).read_bytes() == data
        for name, data in files.items()
    ):
        return []
    return _run(blender, f"install {archive.name} into {blender.name}", _INSTALL, dry_run, archive)


def _uninstall_extension(blender: Blender, dry_run: bool) -> list[str]:
    if not _is_extension(blender):
        return []
    return _run(blender, f"remove the extension from {blender.name}", _REMOVE, dry_run)


def _is_extension(blender: Blender) -> bool:
    """Return whether our extension is installed. Raises HostError if another extension is installed
    under its name."""
    if not blender.place.exists():
        return False
    try:
        manifest = (blender.place / "blender_manifest.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        manifest = ""
    if 'maintainer = "The callboard authors"' not in manifest:
        raise HostError(f"{blender.place} wasn't made by callboard; move it away first")
    return True


# -- finding and running Blender -------------------------------------------------------------------


def _blenders(folder: Path | None) -> list[Blender]:
    """Return the Blender versions to work on. Raises HostError if there is none."""
    program = shutil.which("blender")
    on_path = _version_of(program) if program else None
    if folder is not None:
        named = re.fullmatch(r"(\d+)\.(\d+)", folder.name)
        version = (int(named[1]), int(named[2])) if named else on_path
        if version is None:
            raise HostError(
                f"can't tell which Blender {folder} is for; its name should be like 4.5"
            )
        blenders = [
            Blender(version, folder, program if version == on_path else None, elsewhere=True)
        ]
    else:
        users = _user_folder()
        versions = {
            (int(named[1]), int(named[2]))
            for path in (users.iterdir() if users.is_dir() else ())
            if (named := re.fullmatch(r"(\d+)\.(\d+)", path.name))
        }
        if on_path is not None:
            versions.add(on_path)
        blenders = [
            Blender(v, users / f"{v[0]}.{v[1]}", program if v == on_path else None)
            for v in sorted(versions)
            if v >= OLDEST
        ]
    if not blenders:
        raise HostError(
            "no Blender 3.4 or later is on the path, and none has ever been started on this machine"
        )
    return blenders


def _user_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home())) / "Blender Foundation" / "Blender"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Blender"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "blender"


@cache
def _version_of(program: str) -> tuple[int, int] | None:
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"Blender (\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else None


def _run(
    blender: Blender, what: str, statement: str, dry_run: bool, archive: Path | None = None
) -> list[str]:
    """Have Blender run a statement and save its preferences. Return a line about the step. If
    Blender isn't on the path, the line tells the user how to do the step by hand."""
    if dry_run:
        return [what]
    if blender.program is None:
        if archive is not None:
            return [f"drag {archive} into {blender.name}: its program is not on the path"]
        return [f"{what} yourself, in Edit > Preferences: its program is not on the path"]
    done_mark = json.dumps({"callboard": "done"})
    named = statement.format(module=blender.module, archive=str(archive))
    code = f"import bpy; {named}; bpy.ops.wm.save_userpref(); print({done_mark!r})"
    try:
        done = subprocess.run(
            [blender.program, "--background", "-noaudio", "--python-expr", code],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
            env=dict(_environment(blender)),
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"{blender.name} did not answer within {_PATIENCE} s") from None
    if done_mark not in done.stdout:
        words = (done.stderr or done.stdout).strip()[-2000:]
        raise HostError(f"{blender.name} could not {what}:\n{words}")
    return [what]


def _environment(blender: Blender) -> Iterator[tuple[str, str]]:
    # Environment variables for this Python may be wrong for Blender's Python.
    yield from ((k, v) for k, v in os.environ.items() if not k.startswith("PYTHON"))
    if blender.program is not None:
        # A Blender that uses the system's Python uses the library that belongs to the first python3
        # on the path.
        beside = str(Path(blender.program).resolve().parent)
        yield "PATH", os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
    if "XDG_RUNTIME_DIR" not in os.environ:
        # Despite -noaudio, Blender 5.2 uses the system's sound library, which would make a folder
        # in the user's home. The library can't make one at this path.
        yield "PULSE_RUNTIME_PATH", "/dev/null/none"
    if blender.elsewhere:
        yield "BLENDER_USER_RESOURCES", str(blender.folder)
        # Before 4.2, each part of the user folder has a variable of its own.
        yield "BLENDER_USER_CONFIG", str(blender.folder / "config")
        yield "BLENDER_USER_SCRIPTS", str(blender.folder / "scripts")
