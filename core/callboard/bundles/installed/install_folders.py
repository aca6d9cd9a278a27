"""Where bundles are installed: the user's, those of one project, and the site's.

A project's bundles are kept with the user's data under the project's name, not inside the project:
opening a folder that someone sent must not run what lies in it.
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

BundleScope = Literal["user", "project", "site"]

#: What this host provides to bundles; the gate at installation compares with it.
PROVIDED = (CAPABILITY,)


def bundles_folder() -> Path:
    """Holds a folder per scope. Not created."""
    return data_folder() / "bundles"


def user_bundles() -> Bundles:
    return Bundles(bundles_folder() / "user")


def project_bundles(project: str | Path) -> Bundles:
    """Those of the project in this folder, however its path is written."""
    real = os.path.normcase(os.path.realpath(project))
    name = hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Bundles(bundles_folder() / f"project-{name}")


def site_bundles() -> Bundles | None:
    """Those that a studio gives all its users, where there is a site. Hosts only read them."""
    site = site_folder()
    return None if site is None else Bundles(site / "bundles")


def places(projects: Sequence[str | Path]) -> list[tuple[Bundles, BundleScope]]:
    """Where to look, the most important first."""
    project_places: list[tuple[Bundles, BundleScope]] = [
        (project_bundles(path), "project") for path in projects
    ]
    listed: list[tuple[Bundles, BundleScope]] = [*project_places, (user_bundles(), "user")]
    if (site := site_bundles()) is not None:
        listed.append((site, "site"))
    return listed


def as_offered(
    bundle: InstalledBundle, provided: Collection[str] = PROVIDED
) -> tuple[InstalledBundle, tuple[str, ...]]:
    """The bundle with what it misses of what is provided now, which may be more or less than when
    it was installed, and what of that it can't do without."""
    wanted = bundle.manifest.capabilities
    missing = tuple(name for name in wanted if name not in provided)
    return replace(bundle, missing=missing), tuple(name for name in missing if wanted[name])
