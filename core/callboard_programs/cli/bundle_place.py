"""The bundles that a command works on: the user's, a project's or the site's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from callboard.bundles.installed.install import Bundles
from callboard.bundles.installed.install_folders import project_bundles, site_bundles, user_bundles
from callboard.errors import PeerError


def add_place(parser: Any) -> None:
    parser.add_argument(
        "--scope",
        choices=("user", "project", "site"),
        default="user",
        help="for every project (the default), for one, or for all users of CALLBOARD_SITE",
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        help="the project's folder; by default the current folder",
    )


def place_of(arguments: argparse.Namespace) -> Bundles:
    """Return the bundles in the location that the options specify. Raises PeerError when the
    project isn't a folder, and when there is no site."""
    if arguments.scope == "site":
        site = site_bundles()
        if site is None:
            raise PeerError("CALLBOARD_SITE doesn't name a folder; set it to the site's folder")
        return site
    if arguments.scope == "user" and arguments.project is None:
        return user_bundles()
    project = arguments.project or Path.cwd()
    if not project.is_dir():
        raise PeerError(f"{project} is not a folder; give the project's folder with --project")
    return project_bundles(project)
