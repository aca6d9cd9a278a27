"""Whether a bundle's skill can be loaded, told without running any of it."""

from __future__ import annotations

from callboard.bundles.installed.install import InstalledBundle
from callboard.skills.load import load_skill
from callboard.skills.model import SkillMetadata, is_usable
from callboard.skills.script_check import syntax_error

#: Failures of a whole file.
_FILE_KINDS = ("read", "parse", "missing", "empty")


def skill_of(bundle: InstalledBundle) -> SkillMetadata | None:
    """The bundle's skill, or None for a bundle that is a server and nothing else."""
    return load_skill(bundle.folder) if bundle.has_skill else None


def problem_of(skill: SkillMetadata) -> str | None:
    """Why it can't be loaded, in one line; None where it can."""
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
