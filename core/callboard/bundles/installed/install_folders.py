"""The folders where bundles are installed: the user's, a project's and the site's.

A project's bundles are kept with the user's data under the project's name, not inside the project:
opening a folder from another person must not run its content.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from callboard.bundles.files.host_resources import CAPABILITY
from callboard.bundles.installed.install import Bundles, InstalledBundle
from callboard.ground.folders import data_folder, site_folder
from callboard.ground.machine_policy import policy_site

BundleScope = Literal["user", "project", "site"]

#: The host capabilities that this host provides, against which an installation is checked.
PROVIDED = (CAPABILITY,)


def bundles_folder() -> Path:
    """Return the folder that contains the scopes' folders, without creating it."""
    return data_folder() / "bundles"


def user_bundles() -> Bundles:
    return Bundles(bundles_folder() / "user")


def project_bundles(project: str | Path) -> Bundles:
    """Return the bundles of the project in this folder, however its path is written."""
    real = os.path.normcase(os.path.realpath(project))
    name = hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Bundles(bundles_folder() / f"project-{name}")


def site_bundles() -> Bundles | None:
    """Return the bundles that a studio shares with all its users, if any. Hosts only read them."""
    site = site_folder()
    return None if site is None else Bundles(site / "bundles")


def places(projects: Sequence[str | Path]) -> list[tuple[Bundles, BundleScope]]:
    """Return the bundles of each scope, the most important scope first. The site's bundles are
    first if the machine's policy names the site, and last otherwise."""
    project_places: list[tuple[Bundles, BundleScope]] = [
        (project_bundles(path), "project") for path in projects
    ]
    listed: list[tuple[Bundles, BundleScope]] = [*project_places, (user_bundles(), "user")]
    if (site := site_bundles()) is not None:
        listed.insert(0 if policy_site() is not None else len(listed), (site, "site"))
    return listed


def as_offered(
    bundle: InstalledBundle, provided: Collection[str] = PROVIDED
) -> tuple[InstalledBundle, tuple[str, ...]]:
    """Return the bundle with its missing capabilities, and the names of the missing ones that it
    requires. ``provided`` may have changed since the installation."""
    wanted = bundle.manifest.capabilities
    missing = tuple(name for name in wanted if name not in provided)
    return replace(bundle, missing=missing), tuple(name for name in missing if wanted[name])
