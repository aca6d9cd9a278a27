"""Whether a loaded skill's files are others by now, and whether those may take its place."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from callboard.skills.file_stamps import Stamp, settled, tree_stamps
from callboard.skills.model import Failure, SkillMetadata

#: Failures of a whole file: what a half-written one looks like.
_FILE_KINDS = ("read", "parse", "missing", "empty")


class SeenSkill(NamedTuple):
    """A skill, and its files as they were when it was read."""

    skill: SkillMetadata
    #: None where the files were too fresh for their stamps to be trusted.
    stamps: dict[str, Stamp] | None

    def is_still(self, newer: SeenSkill) -> bool:
        """Whether ``newer``, of the same name, has nothing new."""
        same = newer.stamps is not None and newer.stamps == self.stamps
        return same and newer.skill.path == self.skill.path

    def spoiled_by(self, newer: SeenSkill) -> list[Failure]:
        """What is broken in the newer files as a whole and wasn't in these. Reads the scripts that
        changed."""
        from callboard.skills.syntax_tree import syntax_error  # only for what changes meanwhile

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
    """With its files as they are on disk."""
    began = time.time_ns()
    stamps = _stamps(skill)
    return SeenSkill(skill, stamps if settled(stamps.values(), began) else None)


def _stamps(skill: SkillMetadata) -> dict[str, Stamp]:
    """Of its files but the tests, which aren't served, unless a tool's script is among them."""
    stamps, tests = tree_stamps(skill.path), skill.path / "tests"
    if any(tool.script is not None and tests in tool.script.parents for tool in skill.tools):
        return stamps
    return {path: seen for path, seen in stamps.items() if Path(path).parts[0] != tests.name}
