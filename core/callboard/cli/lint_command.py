"""``callboard lint``: checks a skill, or a folder of skills."""

from __future__ import annotations

import argparse
from pathlib import Path

from callboard.errors import PeerError
from callboard.skills.lint import lint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)


def run(arguments: argparse.Namespace) -> int:
    """One line per finding; 1 if any of them is an error."""
    if not arguments.folder.is_dir():
        raise PeerError(f"{arguments.folder} is not a folder")
    findings = lint(arguments.folder)
    for finding in findings:
        print(finding)
    return 1 if any(finding.severity == "error" for finding in findings) else 0
