"""``callboard skills``: lists the skills and the installed bundles."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.bundles.installed.install_folders import as_offered, places
from callboard.bundles.installed.skill_check import trouble_here
from callboard.settings import config_from, under_policy
from callboard.skills.discovery import scan_and_load
from callboard_programs.cli.instance import offered_skills


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--installed", action="store_true", help="installed bundles only")
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        help="show this project's bundles in addition to the user's",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(arguments: argparse.Namespace) -> int:
    bundles = list(_bundles(arguments.project or Path.cwd()))
    skills = [] if arguments.installed else _skills()
    if arguments.json:
        print(json.dumps({"installed": bundles, "skills": skills}, indent=2, ensure_ascii=False))
        return 0
    for bundle in bundles:
        print(_line(bundle))
    if arguments.installed and not bundles:
        print("No bundle is installed. Install one with `callboard install-skill PATH`.")
    for skill in skills:
        named = " ".join(filter(None, (skill["name"], skill["version"])))
        tools = "1 tool" if skill["tools"] == 1 else f"{skill['tools']} tools"
        print(f"{named}  {tools}  {skill['description']}")
    return 0


def _bundles(project: Path) -> Iterator[dict[str, Any]]:
    installed = [
        (as_offered(each)[0], scope)
        for place, scope in places([project])
        for each in place.installed()
    ]
    running = offered_skills() if installed else []
    for bundle, scope in installed:
        held = [
            {
                "instance": one.instance.id,
                "host": one.instance.kind,
                "why": why,
            }
            for one in running
            if (why := one.held.get(bundle.name)) is not None
        ]
        here = {"scope": scope, "not_loaded": trouble_here(bundle), "held_back": held}
        yield {**bundle.as_json(), **here}


def _skills() -> list[dict[str, Any]]:
    """Return the skills that a server started here, with this Python, would find."""
    skills, _ = scan_and_load(extra_paths=under_policy(config_from({})).skill_paths)
    return [
        {
            "name": one.name,
            "version": one.version,
            "folder": str(one.path),
            "description": one.description,
            "tools": len(one.tools),
        }
        for one in skills
    ]


def _line(bundle: dict[str, Any]) -> str:
    notes = [bundle["scope"]]
    if bundle["pending"]:
        and_kept = f", {bundle['previous']} is kept" if bundle["previous"] else ""
        notes.append(f"hasn't loaded yet{and_kept}")
    missing = bundle["missing_capabilities"]
    if granted := [name for name in bundle["host_capabilities"] if name not in missing]:
        notes.append(f"gets: {', '.join(granted)}")
    if bundle["missing_capabilities"]:
        notes.append(f"missing: {', '.join(bundle['missing_capabilities'])}")
    if bundle["not_loaded"]:
        notes.append(f"not loaded, because {bundle['not_loaded']}")
    notes += [f"held back in {one['host']}: {one['why']}" for one in bundle["held_back"]]
    description = " ".join(bundle["description"].split())
    return f"{bundle['name']} {bundle['version']}  ({'; '.join(notes)})  {description}"
