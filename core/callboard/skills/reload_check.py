"""Checks whether a loaded skill's files have changed, and whether the new ones may replace them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from callboard.skills.file_stamps import Stamp, settled, tree_stamps
from callboard.skills.model import Failure, SkillMetadata

_TESTS = f"tests{os.sep}"
#: The kinds of failure that concern a whole file, such as a half-written one.
_FILE_KINDS = ("read", "parse", "missing", "empty")


class SeenSkill(NamedTuple):
    """A skill, and its files as they were when it was read."""

    skill: SkillMetadata
    #: None when the files were too new for their stamps to be trusted.
    stamps: dict[str, Stamp] | None

    def is_still(self, newer: SeenSkill) -> bool:
        """Return whether ``newer``, which has the same name, has no changes."""
        same = newer.stamps is not None and newer.stamps == self.stamps
        return same and newer.skill.path == self.skill.path

    def spoiled_by(self, newer: SeenSkill) -> list[Failure]:
        """Return the problems of whole files that are new in ``newer``. Reads the scripts that
        changed."""
        # This import is only needed for changed files.
        from callboard.skills.syntax_tree import syntax_error

        new = newer.skill
        known = {(failure.reference, failure.message) for failure in self.skill.failures}
        problems = [
            failure
            for failure in new.failures
            if failure.kind in _FILE_KINDS and (failure.reference, failure.message) not in known
        ]
        current = _stamps(new) if newer.stamps is None else newer.stamps
        for path, seen in current.items():
            if path.endswith(".py") and (self.stamps is None or self.stamps.get(path) != seen):
                error = syntax_error(new.path / path)
                if error is not None:
                    line, message = error
                    shown = Path(path).as_posix()
                    problems.append(Failure(new.name, shown, "parse", message, line))
        return problems


def seen_now(skill: SkillMetadata) -> SeenSkill:
    """Return the skill with its files as they are on disk."""
    began = time.time_ns()
    stamps = _stamps(skill)
    return SeenSkill(skill, stamps if settled(stamps.values(), began) else None)


def _stamps(skill: SkillMetadata) -> dict[str, Stamp]:
    """Return the stamps of the skill's files. Tests are left out unless they contain a tool's
    script."""
    stamps, tests = tree_stamps(skill.path), skill.path / "tests"
    served = {path: seen for path, seen in stamps.items() if not path.startswith(_TESTS)}
    if len(served) == len(stamps):
        return served
    if any(tool.script is not None and tests in tool.script.parents for tool in skill.tools):
        return stamps
    return served
