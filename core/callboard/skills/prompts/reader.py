"""The prompts of a skill, read when somebody asks and not before, and again when they changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.skills.file_stamps import Stamp, settled, stamp
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.prompt import Prompt

if TYPE_CHECKING:
    from callboard.skills.prompts.derived import PromptReading


def declares_prompts(skill: SkillMetadata) -> bool:
    """Whether the skill names anything that prompts could come from."""
    return bool(skill.prompts or skill.examples or skill.recipes or skill.workflows)


class PromptReader:
    """Reads again only what changed on disk. Any thread, several at once:
    nobody waits for another's disk."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamps, PromptReading]] = {}

    def read(self, skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]:
        known = self._known.get(skill.name)
        if known is not None:
            stamps, reading = known
            if reading.skill is skill and stamps == _stamps(reading):
                return reading.sorted(), list(reading.failures)
        from callboard.skills.prompts.files import read  # brings YAML and workflows

        self._known.pop(skill.name, None)
        began = time.time_ns()
        reading = read(skill)
        stamps = _stamps(reading)
        if settled(stamps.values(), began):
            self._known[skill.name] = (stamps, reading)
        return reading.sorted(), list(reading.failures)

    def forget(self, skill_name: str) -> None:
        self._known.pop(skill_name, None)


_Stamps = dict[str, Stamp]


def _stamps(reading: PromptReading) -> _Stamps:
    """Of every file that was looked at, and of every file that a glob finds now."""
    stamps = {str(path): stamp(path) for path in reading.files}
    for pattern in reading.globs:
        for match in _glob(reading.skill.path, pattern):
            stamps[str(match)] = stamp(match)
    return stamps


def _glob(folder: Path, reference: str) -> list[Path]:
    try:
        return list(folder.glob(reference))
    except (OSError, ValueError, NotImplementedError, IndexError):
        return []
