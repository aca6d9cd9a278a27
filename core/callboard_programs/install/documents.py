"""The folders in which Windows keeps a user's documents."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def documents_folders() -> list[Path]:
    """Return every folder that may hold the user's documents. OneDrive may have moved the documents
    folder. Earlier files then stay in the old folder, and older applications still write to it."""
    moved = (
        os.environ.get(name) for name in ("OneDrive", "OneDriveCommercial", "OneDriveConsumer")
    )
    folders = [
        Path(platformdirs.user_documents_path()),
        Path.home() / "Documents",
        *(Path(folder) / "Documents" for folder in moved if folder),
    ]
    return list(dict.fromkeys(folders))
