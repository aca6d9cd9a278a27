"""Names the open project, and the files with the artist's decisions for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from callboard.ground.folders import data_folder


def project_of(host_kind: str, folders: Sequence[str]) -> str:
    """Return the project: the host's first project folder, or a name for the host if it has no
    project."""
    return folders[0] if folders else f"no project in {host_kind}"


def project_file(project: str, kind: str = "") -> Path:
    """Return the path of this user's file of that kind for a project. The file may not exist."""
    name = hashlib.sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return data_folder() / "projects" / ".".join(filter(None, (name, kind, "json")))
