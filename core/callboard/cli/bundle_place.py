"""Whose bundles a command means."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from callboard.bundles.installed.install import Bundles
from callboard.bundles.installed.places import project_bundles, user_bundles
from callboard.errors import PeerError


def add_place(parser: Any) -> None:
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="for every project (the default), or for one",
    )
    parser.add_argument(
        "--project", metavar="DIR", type=Path, help="that project; by default the current folder"
    )


def place_of(arguments: argparse.Namespace) -> Bundles:
    """Raises PeerError for a project that is no folder."""
    if arguments.scope == "user" and arguments.project is None:
        return user_bundles()
    project = arguments.project or Path.cwd()
    if not project.is_dir():
        raise PeerError(f"{project} is not a folder")
    return project_bundles(project)
