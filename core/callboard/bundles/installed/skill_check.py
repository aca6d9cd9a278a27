"""Checks whether a bundle's skill can be loaded, without running any of its code."""

from __future__ import annotations

import shutil

from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.manifest import ManifestError
from callboard.bundles.installed.programs import as_called_here
from callboard.bundles.installed.user_config import how_to_answer, unanswered, values_of
from callboard.skills.load import load_skill
from callboard.skills.model import SkillMetadata, is_usable
from callboard.skills.syntax_tree import syntax_error

#: The kinds of failure that concern a whole file.
_FILE_KINDS = ("read", "parse", "missing", "empty")


def skill_of(bundle: InstalledBundle) -> SkillMetadata | None:
    """Return the bundle's skill, or None for a bundle that is only a server."""
    return load_skill(bundle.folder) if bundle.has_skill else None


def problem_of(skill: SkillMetadata) -> str | None:
    """Return the reason why the skill can't be loaded, in one line, or None when it can be
    loaded."""
    broken = [failure for failure in skill.failures if failure.kind in _FILE_KINDS]
    if not is_usable(skill):
        broken = broken or list(skill.failures)
        return broken[0].editor_line if broken else "SKILL.md can't be used"
    if broken:
        return broken[0].editor_line
    for script in sorted({tool.script for tool in skill.tools if tool.script is not None}):
        error = syntax_error(script)
        if error is not None:
            return f"{script.relative_to(skill.path).as_posix()}:{error[0]}: {error[1]}"
    return None


def trouble_here(bundle: InstalledBundle) -> str | None:
    """Return one line with the first reason why the bundle's server can't start on this machine,
    or None when no reason is found. Reads the disk."""
    if missing := unanswered(bundle.manifest.settings, bundle.answers):
        return how_to_answer(missing)
    if bundle.manifest.server is None:
        return None
    try:
        program = command_of(bundle)[0][0]
    except ManifestError as error:
        return error.message
    if shutil.which(program) is None:
        return (
            f"the program '{program}', which runs its server, isn't on this machine's PATH: "
            "install it"
        )
    return None


def command_of(bundle: InstalledBundle) -> tuple[list[str], dict[str, str]]:
    """Return ``(argv, environment additions)`` for starting the bundle's server. Raises
    ManifestError."""
    server = bundle.manifest.server
    assert server is not None
    values = values_of(bundle.manifest.settings, bundle.answers)
    command, additions = server.resolved(bundle.folder, values)
    return as_called_here(command), additions
