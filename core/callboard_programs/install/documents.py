"""Where Windows keeps a user's documents."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def documents_folders() -> list[Path]:
    """All of them: OneDrive moves the folder, and what an application wrote before stays behind,
    or is written on there by a version that doesn't know of it."""
    moved = (
        os.environ.get(name) for name in ("OneDrive", "OneDriveCommercial", "OneDriveConsumer")
    )
    folders = [
        Path(platformdirs.user_documents_path()),
        Path.home() / "Documents",
        *(Path(folder) / "Documents" for folder in moved if folder),
    ]
    return list(dict.fromkeys(folders))
