"""``callboard lint``: checks skills, folders of skills and bundles."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain
from callboard.settings import named_skill_paths
from callboard.skills.discovery import search_paths
from callboard_testing.lint.explain import Explained, explain
from callboard_testing.lint.skill_lint import Finding, lint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        type=Path,
        metavar="DIR|ZIP",
        nargs="+",
        help="a skill, a folder of skills, or a bundle",
    )
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--json", action="store_true", help="print a list of {file, line, …}")
    parser.add_argument(
        "--start", action="store_true", help="run a bundle's server to see its tools"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show the parts of tools that are read from functions",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each finding. Return 1 if any finding is an error or, with --strict, if
    there is any finding."""
    findings: list[Finding] = []
    explained: list[Explained] = []
    search = [*arguments.folders, *search_paths(extra=named_skill_paths())]
    for folder in arguments.folders:
        # With several folders, each finding begins with its folder's name.
        place = "" if len(arguments.folders) == 1 else f"{folder.as_posix()}/"
        for finding in _findings(folder, search, start=arguments.start):
            findings.append(replace(finding, file=place + finding.file))
        for one in explain(folder) if arguments.explain and folder.is_dir() else ():
            explained.append(replace(one, source=place + one.source))
    if arguments.json:
        written = [asdict(finding) for finding in findings]
        both = {"findings": written, "explained": [asdict(one) for one in explained]}
        print(json.dumps(both if arguments.explain else written, indent=2))
    else:
        for finding in findings:
            print(plain(str(finding)))
        for one in explained:
            _print(one)
        if not findings:
            print("callboard: nothing is wrong", file=sys.stderr)
    return int(any(arguments.strict or finding.severity == "error" for finding in findings))


def _findings(place: Path, search: list[Path], *, start: bool) -> list[Finding]:
    if not place.exists():
        raise PeerError(f"{place} doesn't exist")
    if not place.is_file() and not (place / "manifest.json").is_file():
        return lint(place, search)
    from callboard_programs.cli.bundle_source import findings_about  # This imports servers' code.

    try:
        return findings_about(place, start=start)
    except OSError as error:
        raise HostError(f"{place} can't be read: {error.strerror or error}") from None


def _print(one: Explained) -> None:
    where = plain(f"{one.source}:{one.line}: tool '{one.tool}'")
    if one.function is None:
        print(f"{where}: there is no plain def to read a schema from; any arguments are accepted")
        return
    for key, value in one.gives.items():
        print(plain(f"{where}: {key} from {one.function}(): {json.dumps(value)}"))
    for annotation in one.unread:
        print(f"{where}: '{plain(annotation)}' has no meaning in JSON; any value is accepted")
