"""``callboard install-skill``: a skill bundle, from a folder or an archive."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from callboard.bundles.installed.install import InstalledBundle, InstallError
from callboard.bundles.installed.loading import problem_of, skill_of, trouble_here
from callboard.bundles.installed.places import PROVIDED
from callboard.cli.bundle_place import add_place, place_of
from callboard.errors import HostError, PeerError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="PATH|ZIP", type=Path, help="a folder or an archive")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="answers one of its settings; again for each value of one that takes several",
    )
    add_place(parser)


def run(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    try:
        check = partial(_check, place.installed())
        bundle = place.install(
            arguments.source, PROVIDED, check, settings=_settings(arguments.settings)
        )
    except OSError as error:
        raise HostError(f"it can't be installed: {error.strerror or error}") from None
    print(f"{bundle.name} {bundle.manifest.version} is installed.")
    if bundle.previous:
        print(f"{bundle.previous} is kept until this version has been seen to load.")
    if bundle.missing:
        print(f"It would like what this host does not provide: {', '.join(bundle.missing)}.")
    if bundle.manifest.server is not None:
        _tell_of_server(bundle, arguments)
    print("Hosts that run take it into use within seconds, others when they start.")
    return 0


def _settings(written: Sequence[str]) -> dict[str, list[str]]:
    """Raises PeerError."""
    settings: dict[str, list[str]] = {}
    for one in written:
        key, separator, value = one.partition("=")
        if not separator or not key:
            raise PeerError(f"--set takes KEY=VALUE, not '{one[:80]}'")
        settings.setdefault(key, []).append(value)
    return settings


def _tell_of_server(bundle: InstalledBundle, arguments: argparse.Namespace) -> None:
    """What its server will see, and whether it will run here."""
    project = arguments.project or (Path.cwd() if arguments.scope == "project" else None)
    named = "the host's project" if project is None else f"the project {project.resolve()}"
    print(
        "Its server runs as you. It is told the workspace folders of whoever calls it: the roots "
        "that the client names, within the artist's own where there are some; without them the "
        f"artist's, else {named}."
    )
    for key, setting in bundle.manifest.settings.items():
        if setting.kind == "directory" and key in bundle.answers:
            answer = bundle.answers[key]
            for folder in answer if isinstance(answer, (list, tuple)) else [answer]:
                print(f"It was given the folder {folder} as '{key}'.")
    if trouble := trouble_here(bundle):
        print(f"It can't be loaded here yet, because {trouble}.")


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
