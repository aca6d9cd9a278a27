"""``callboard install-skill``: a skill bundle, from a folder or an archive."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from callboard.bundles.installed.install import InstalledBundle, InstallError
from callboard.bundles.installed.loading import problem_of, skill_of
from callboard.bundles.installed.places import PROVIDED
from callboard.cli.bundle_place import add_place, place_of
from callboard.errors import HostError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="PATH|ZIP", type=Path, help="a folder or an archive")
    add_place(parser)


def run(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    try:
        bundle = place.install(arguments.source, PROVIDED, partial(_check, place.installed()))
    except OSError as error:
        raise HostError(f"it can't be installed: {error.strerror or error}") from None
    print(f"{bundle.name} {bundle.manifest.version} is installed.")
    if bundle.previous:
        print(f"{bundle.previous} is kept until this version has been seen to load.")
    if bundle.missing:
        print(f"It would like what this host does not provide: {', '.join(bundle.missing)}.")
    print("Hosts that run take it into use within seconds, others when they start.")
    return 0


def _check(there: Sequence[InstalledBundle], bundle: InstalledBundle) -> None:
    """What can't load on any host isn't installed; ``there`` are those that are. Raises
    InstallError."""
    skill = skill_of(bundle)
    problem = None if skill is None else problem_of(skill)
    if problem is None:
        return
    used = [f"; {old.manifest.version} is still in use" for old in there if old.name == bundle.name]
    raise InstallError(
        f"'{bundle.name}' can't be loaded, so it was not installed: {problem}{''.join(used)}"
    )
