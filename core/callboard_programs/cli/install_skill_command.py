"""``callboard install-skill``: installs a skill bundle from a folder or an archive."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path

from callboard.bundles.installed.install import InstalledBundle, InstallError
from callboard.bundles.installed.install_folders import PROVIDED, as_offered
from callboard.bundles.installed.skill_check import problem_of, skill_of, trouble_here
from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard_programs.cli.bundle_place import add_place, place_of
from callboard_programs.cli.first_start import start_once
from callboard_programs.cli.instance import OfferedSkills, offered_skills


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="PATH|ZIP", type=Path, help="a folder or an archive")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="a setting's value; repeat the option for further settings or values",
    )
    parser.add_argument("--downgrade", action="store_true", help="also replace a newer version")
    parser.add_argument(
        "--no-start", action="store_true", help="don't run its server to see its tools"
    )
    add_place(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    place = place_of(arguments)
    if arguments.scope == "site" and arguments.settings:
        raise PeerError(
            "answers are saved for each user, so a site's bundle doesn't accept --set; give its "
            "settings defaults in manifest.json"
        )
    try:
        seen: list[str] = []
        check = partial(_check, place.installed(), arguments, seen)
        running = offered_skills()
        bundle = place.install(
            arguments.source, _provided(running), check, settings=_settings(arguments.settings)
        )
        if arguments.scope == "site":
            # Hosts can't write to the site's folder, so no host can record that the version has
            # loaded.
            bundle = place.confirm(bundle.name)
    except OSError as error:
        raise HostError(f"the bundle can't be installed: {error.strerror or error}") from None
    withheld = list(_withheld(bundle, running))
    lines = [*_reported(bundle, seen, arguments), *withheld]
    if arguments.json:
        here = {"scope": arguments.scope, "not_loaded": trouble_here(bundle), "lines": lines}
        here["held_back"] = withheld
        print(plain_json({**bundle.as_json(), **here}))
        return 0
    for line in lines:
        print(plain(line))
    return 0


def _reported(
    bundle: InstalledBundle, seen: Sequence[str], arguments: argparse.Namespace
) -> Iterator[str]:
    yield f"{bundle.name} {bundle.manifest.version} is installed."
    yield from seen
    if bundle.previous and bundle.previous != bundle.manifest.version:
        yield f"{bundle.previous} is kept until this version has loaded once."
    if bundle.missing:
        missing = ", ".join(bundle.missing)
        yield f"It asks for capabilities that this host does not provide: {missing}."
    if bundle.manifest.server is not None:
        yield from _server_sentence(bundle, arguments)
    yield "Running hosts use it within seconds, others when they start."


def _provided(running: Sequence[OfferedSkills]) -> Collection[str]:
    """Return the host capabilities that any running host offers to bundles, or all that hosts can
    offer if none is running."""
    if not running:
        return PROVIDED
    return sorted({name for one in running for name in one.capabilities})


def _withheld(bundle: InstalledBundle, running: Sequence[OfferedSkills]) -> Iterator[str]:
    """Yield a line for each running host that doesn't offer the capabilities that the bundle
    requires."""
    for one in running:
        missing = as_offered(bundle, one.capabilities)[1]
        if missing:
            yield (
                f"{one.instance.name} (pid {one.instance.pid}) holds it back: it doesn't offer "
                f"{', '.join(missing)} now. Restore filesystem.read there, in its panel."
            )


def _settings(written: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each setting. Raises PeerError."""
    settings: dict[str, list[str]] = {}
    for one in written:
        key, separator, value = one.partition("=")
        if not separator or not key:
            raise PeerError(f"--set takes KEY=VALUE, not '{one[:80]}'")
        settings.setdefault(key, []).append(value)
    return settings


def _server_sentence(bundle: InstalledBundle, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield lines about the server's access, and about whether it can run here."""
    project = arguments.project or (Path.cwd() if arguments.scope == "project" else None)
    named = "the host's project" if project is None else f"the project {project.resolve()}"
    yield (
        "Its server runs as you. It gets the workspace folders of the client that calls it: the "
        "client's roots, limited to the artist's if there are any. If the client has no roots, it "
        f"gets the artist's, else {named}."
    )
    for key, setting in bundle.manifest.settings.items():
        if setting.kind == "directory" and key in bundle.answers:
            answer = bundle.answers[key]
            for folder in answer if isinstance(answer, (list, tuple)) else [answer]:
                yield f"It was given the folder {folder} as '{key}'."
    if trouble := trouble_here(bundle):
        yield f"It can't be loaded here yet, because {trouble}."


def _check(
    there: Sequence[InstalledBundle],
    arguments: argparse.Namespace,
    seen: list[str],
    bundle: InstalledBundle,
) -> None:
    """Refuse a bundle that no host could load. ``there`` has the installed bundles. Lines for the
    user are added to ``seen``. Raises InstallError."""
    old = next((one.manifest.version for one in there if one.name == bundle.name), None)
    used = "" if old is None else f"; {old} is still in use"
    version = bundle.manifest.version
    if old is not None and is_older(version, old) and not arguments.downgrade:
        _ask_about(bundle.name, version, old)
    skill = skill_of(bundle)
    problem = None if skill is None else problem_of(skill)
    if problem is None and bundle.manifest.server is not None and not arguments.no_start:
        problem = _started(bundle, seen)
    if problem is not None:
        raise InstallError(
            f"'{bundle.name}' can't be loaded, so it was not installed: {problem}{used}"
        )


def _ask_about(name: str, version: str, old: str) -> None:
    """Raise InstallError unless the user agrees at the terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        question = f"{name} {old} is installed, which is newer. Install {version} over it? [y/N] "
        print(question, end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
        raise InstallError(f"'{name}' was not installed: {old} remains installed")
    raise InstallError(
        f"'{name}' was not installed: {old} is installed, which is newer than {version}; "
        "add --downgrade to install it anyway"
    )


def _started(bundle: InstalledBundle, seen: list[str]) -> str | None:
    """Start the server once. Return the reason why it can't be used, or None if it can, if it only
    took too long, or if this machine can't run it yet."""
    if trouble_here(bundle) is not None:
        return None  # This isn't the bundle's fault, and is reported after the installation.
    first = start_once(bundle)
    if first.problem is None:
        names = f": {', '.join(first.tools[:20])}" if first.tools else ""
        tools = "1 tool" if len(first.tools) == 1 else f"{len(first.tools)} tools"
        seen.append(f"Its server runs and has {tools}{names}.")
    elif first.late:
        seen.append(f"Its server {first.problem}; hosts will keep trying.")
    else:
        return f"its server {first.problem}"
    return None


_Part = tuple[int, int, str]


def is_older(version: str, than: str) -> bool:
    """Return whether ``version`` is older than ``than``: ``1.9`` is older than ``1.10``, and
    ``2.0-rc.1`` is older than ``2.0``. The part after ``+`` is ignored."""
    (own, own_before), (other, other_before) = _split(version), _split(than)
    for one, two in zip_longest(own, other, fillvalue=_part("0")):
        if one != two:
            return one < two
    if not own_before or not other_before:
        return bool(own_before) and not other_before
    return own_before < other_before


def _split(version: str) -> tuple[list[_Part], list[_Part]]:
    """Return a version's numbers, and the parts of its pre-release."""
    numbers, _, before = version.partition("+")[0].partition("-")
    parts = [_part(text) for text in before.split(".")] if before else []
    return [_part(text) for text in re.split(r"[._]", numbers)], parts


def _part(text: str) -> _Part:
    """Return a sortable part. Numbers come before words."""
    return (0, int(text), "") if text.isdecimal() else (1, 0, text)
