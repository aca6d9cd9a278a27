"""The folders of callboard's files: the user's data and cache folders, which are below
``CALLBOARD_HOME`` if that is set, and the site's folder, which callboard only reads."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from callboard.ground.machine_policy import policy_site


def path_of(written: str) -> Path:
    """Return the path for a string in which ``~`` means the user's home. The ``~name`` of an
    unknown user stays as it is; no such folder exists."""
    path = Path(written)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def data_folder() -> Path:
    """Return the folder for lasting data, such as records and skills, without creating it."""
    home = os.environ.get("CALLBOARD_HOME")
    return Path(home) if home else platformdirs.user_data_path("callboard", appauthor=False)


def site_folder() -> Path | None:
    """Return the folder that a studio shares with all its users, who only read it. Return None
    unless the machine's policy or ``CALLBOARD_SITE`` names one. Raises PolicyError."""
    if (fixed := policy_site()) is not None:
        return fixed
    site = os.environ.get("CALLBOARD_SITE")
    return path_of(site).absolute() if site else None


def cache_folder() -> Path:
    """Return the folder for data that may be deleted at any time, without creating it."""
    home = os.environ.get("CALLBOARD_HOME")
    if home:
        return Path(home) / "cache"
    return platformdirs.user_cache_path("callboard", appauthor=False)
