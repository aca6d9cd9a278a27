"""``callboard doctor``: what is installed, what runs, what is wrong and how to mend it."""

from __future__ import annotations

import argparse
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import tornado

from callboard import __version__
from callboard.cli import private_folders
from callboard.skills.discovery import scan_and_load, search_paths
from callboard.skills.model import SkillMetadata
from callboard.skills.packages import to_install, unresolved
from callboard.skills.skill_files import FileProblem, read_text
from callboard.transport.instances import folder, listed

_OPTIONAL = {
    "pxr": "the OpenUSD host: pip install 'callboard[usd]'",
    "bpy": "Blender headless: pip install 'callboard[blender]' on Python 3.11",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> int:
    """Prints one line a finding; 1 where something is wrong."""
    wrong = 0
    for good, line in findings():
        print(f"{'ok   ' if good else 'WRONG'} {line}")
        wrong += not good
    return 1 if wrong else 0


def findings() -> Iterator[tuple[bool, str]]:
    version = platform.python_version()
    supported = (3, 10) <= sys.version_info[:2] <= (3, 14)
    yield supported, f"Python {version}" + ("" if supported else ": 3.10 to 3.14 are supported")
    yield True, f"callboard {__version__}, tornado {tornado.version}"
    for module, purpose in _OPTIONAL.items():
        if find_spec(module) is not None:
            yield True, f"{module} is installed"
        else:
            yield True, f"{module} is not installed; it is for {purpose}"
    yield from _instances()
    yield from _skills()
    yield from _bundles()


def _instances() -> Iterator[tuple[bool, str]]:
    yield from private_folders.findings(folder())
    running = listed()
    for entry in running:
        instance = entry.instance
        if entry.state == "serving":
            yield True, f"{instance.name} serves at {instance.url} (pid {instance.pid})"
        else:
            yield (
                False,
                (
                    f"{instance.name} (pid {instance.pid}) runs but does not answer: look at its "
                    "window for a dialog, or end it"
                ),
            )
    if not running:
        yield True, "nothing runs; start a host, or `callboard serve`"


def _skills() -> Iterator[tuple[bool, str]]:
    for path in search_paths():
        if not path.is_dir():
            yield False, f"the skill path {path} does not exist; correct CALLBOARD_SKILL_PATHS"
    skills, skipped = scan_and_load()
    tools = sum(len(skill.tools) for skill in skills)
    yield True, f"{len(skills)} skills with {tools} tools"
    for problem in skipped:
        yield False, f"skill skipped: {problem}"
    for skill in skills:
        for failure in skill.failures:
            yield False, f"skill {failure.skill}, {failure.reference}: {failure.message}"
        for name, scripts in sorted(_unresolved(skill).items()):
            yield False, f"skill {skill.name}: {scripts} import '{name}'; {to_install(name)}"


def _unresolved(skill: SkillMetadata) -> dict[str, str]:
    """Packages that its scripts import and that aren't there, and how many scripts do."""
    missing: Counter[str] = Counter()
    for script in {tool.script for tool in skill.tools if tool.script is not None}:
        try:
            source = read_text(skill.path, script)
        except FileProblem:
            continue  # told with the skill's own failures
        missing.update(
            {name.partition(".")[0] for _, name in unresolved(source, script, skill.path)}
        )
    return {name: f"{count} script{'s' if count > 1 else ''}" for name, count in missing.items()}


def _bundles() -> Iterator[tuple[bool, str]]:
    from callboard.bundles.installed.loading import trouble_here
    from callboard.bundles.installed.places import places

    for place, _ in places([Path.cwd()]):
        for bundle in place.installed():
            trouble = trouble_here(bundle)
            told = f"not loaded, because {trouble}" if trouble else bundle.manifest.version
            yield trouble is None, f"bundle {bundle.name}: {told}"
