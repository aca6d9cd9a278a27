"""In which order skills are loaded that depend on each other."""

from __future__ import annotations

from collections.abc import Mapping

from callboard.errors import SkillError
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata


def load_order(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """``name`` and all it needs, what is needed first; by name where that leaves a choice.

    Raises SkillError, naming the skill that isn't there or the whole cycle.
    """
    return list(_walk(name, skills, {}, {}))


def dependents(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """Who names ``name`` in ``depends``, sorted."""
    return sorted(other for other, skill in skills.items() if name in skill.depends)


def dependency_failures(skills: Mapping[str, SkillMetadata]) -> list[Failure]:
    """One for every skill that can't be loaded for the sake of its ``depends``."""
    failures: list[Failure] = []
    done: dict[str, None] = {}
    bad: dict[str, SkillError] = {}
    for name, skill in sorted(skills.items()):
        if skill.depends:
            try:
                _walk(name, skills, done, bad)
            except SkillError as error:
                failures.append(Failure(name, SKILL_FILE, "metadata", error.message))
    return failures


def _walk(
    name: str,
    skills: Mapping[str, SkillMetadata],
    done: dict[str, None],
    bad: dict[str, SkillError],
) -> dict[str, None]:
    """Adds ``name`` to ``done`` after all that it needs; or raises, and adds all that stand in
    between to ``bad``."""
    # Skill -> what it still needs. Not recursive: a chain of depends is as long as authors like.
    trail: dict[str, list[str]] = {}
    needed, by = name, ""
    try:
        while True:
            if needed in bad:
                raise bad[needed]
            if needed in trail:
                names = list(trail)
                circle = " -> ".join([*names[names.index(needed) :], needed])
                raise SkillError(f"skills depend on each other in a circle: {circle}")
            if needed not in done:
                trail[needed] = _needs(needed, skills, by)
            while trail and not trail[by := next(reversed(trail))]:
                done[by] = None
                del trail[by]
            if not trail:
                return done
            needed = trail[by].pop()
    except SkillError as error:
        bad.update(dict.fromkeys(trail, error))
        raise


def _needs(name: str, skills: Mapping[str, SkillMetadata], by: str) -> list[str]:
    """The direct needs, the one to take first at the end."""
    if name not in skills:
        who = f"skill '{by}' depends on '{name}', which" if by else f"skill '{name}'"
        raise SkillError(
            f"{who} isn't on the search paths; name the folder that holds it in "
            "CALLBOARD_SKILL_PATHS, or under skill_paths in a settings.yaml"
        )
    return sorted(set(skills[name].depends), reverse=True)
