"""The folders in which Windows keeps a user's documents."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def documents_folders() -> list[Path]:
    """Return all of these folders. OneDrive moves the folder. Applications' earlier files stay in
    the old folder, and versions that don't know about the move still write to it."""
    moved = (
        os.environ.get(name) for name in ("OneDrive", "OneDriveCommercial", "OneDriveConsumer")
    )
    folders = [
        Path(platformdirs.user_documents_path()),
        Path.home() / "Documents",
        *(Path(folder) / "Documents" for folder in moved if folder),
    ]
    return list(dict.fromkeys(folders))
