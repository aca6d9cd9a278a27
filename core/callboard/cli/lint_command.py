"""``callboard lint``: checks a skill, or a folder of skills."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from callboard.errors import PeerError
from callboard.skills.lint import lint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strict", action="store_true", help="a warning counts as an error")
    parser.add_argument("--json", action="store_true", help="a list of {file, line, …}")


def run(arguments: argparse.Namespace) -> int:
    """One line per finding; 1 if any of them is an error, or, with --strict, if there is any."""
    if not arguments.folder.is_dir():
        raise PeerError(f"{arguments.folder} is not a folder")
    findings = lint(arguments.folder)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            print(finding)
    return int(any(arguments.strict or finding.severity == "error" for finding in findings))
