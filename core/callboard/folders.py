"""Where callboard keeps its files: the user's data and cache folders, or all below
``CALLBOARD_HOME`` where that is set."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder() -> Path:
    """For what must last: records, installed skills, running instances. Not created."""
    home = os.environ.get("CALLBOARD_HOME")
    return Path(home) if home else platformdirs.user_data_path("callboard", appauthor=False)


def cache_folder() -> Path:
    """For what may be deleted at any time. Not created."""
    home = os.environ.get("CALLBOARD_HOME")
    if home:
        return Path(home) / "cache"
    return platformdirs.user_cache_path("callboard", appauthor=False)
