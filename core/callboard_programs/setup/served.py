"""The applications that load callboard from the site's folder."""

from __future__ import annotations

from pathlib import Path

from callboard.ground.folders import site_folder

_SCRIPT = Path("blender", "startup", "serve_callboard.py")


def is_served(host: str) -> bool:
    """Return whether the site's folder serves this application, that is, contains a folder with
    this name."""
    site = site_folder()
    return site is not None and (site / host).is_dir()


def why_served(host: str) -> str:
    """Return why setup copies nothing for an application that the site serves."""
    missing = missing_part() if host == "blender" else None
    if missing is None:
        return "the site's folder serves it"
    return f"the site's folder is meant to serve it, but {missing} is missing there"


def missing_part() -> Path | None:
    """Return the file or folder that the site's start-up script for Blender needs but doesn't find,
    or None. Without that script, nothing is known about how the site serves Blender."""
    site = site_folder()
    if site is None or not (site / _SCRIPT).is_file():
        return None
    try:
        version = (site / "version").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return site / "version"
    addon = site / "versions" / version / "blender" / "callboard_addon"
    return None if addon.is_dir() else addon
