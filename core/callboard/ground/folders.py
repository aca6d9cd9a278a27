"""Where callboard keeps its files: the user's data and cache folders, or all below
``CALLBOARD_HOME`` where that is set; and the site's folder, which it only reads."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def path_of(written: str) -> Path:
    """A path as people write it: ``~`` is the user's home. One of a user whom nobody knows stays as
    it is, and isn't there."""
    path = Path(written)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def data_folder() -> Path:
    """For what must last: records, installed skills, running instances. Not created."""
    home = os.environ.get("CALLBOARD_HOME")
    return Path(home) if home else platformdirs.user_data_path("callboard", appauthor=False)


def site_folder() -> Path | None:
    """What a studio gives all its users to read, where ``CALLBOARD_SITE`` names it."""
    site = os.environ.get("CALLBOARD_SITE")
    return path_of(site).absolute() if site else None


def cache_folder() -> Path:
    """For what may be deleted at any time. Not created."""
    home = os.environ.get("CALLBOARD_HOME")
    if home:
        return Path(home) / "cache"
    return platformdirs.user_cache_path("callboard", appauthor=False)
