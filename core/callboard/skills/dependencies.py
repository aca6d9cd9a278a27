"""The order in which skills that depend on each other are loaded."""

from __future__ import annotations

from collections.abc import Mapping

from callboard.errors import SkillError
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata


def load_order(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """Return ``name`` and all skills it needs, in loading order. Skills whose order doesn't matter
    are sorted by name. Raises SkillError, which names the missing skill or the whole cycle."""
    return list(_walk(name, skills, {}, {}))


def dependents(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """Return the skills that list ``name`` in ``depends``, sorted."""
    return sorted(other for other, skill in skills.items() if name in skill.depends)


def dependency_failures(skills: Mapping[str, SkillMetadata]) -> list[Failure]:
    """Return a failure for every skill that can't be loaded because of its ``depends``."""
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
    """Add ``name`` to ``done`` after all skills it needs. On an error, add all skills on the way to
    the error to ``bad``, and raise the error."""
    # Maps a skill to the skills that it still needs. Not recursive, because a chain of depends may
    # be very long.
    trail: dict[str, list[str]] = {}
    needed, by = name, ""
    try:
        while True:
            if needed in bad:
                raise bad[needed]
            if needed in trail:
                names = list(trail)
                circle = " -> ".join([*names[names.index(needed) :], needed])
                raise SkillError(f"circular dependency between skills: {circle}")
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
    """Return the direct dependencies, with the first one to load at the end."""
    if name not in skills:
        who = f"skill '{by}' depends on '{name}', which" if by else f"skill '{name}'"
        raise SkillError(
            f"{who} isn't on the search paths; name the folder that holds it in "
            "CALLBOARD_SKILL_PATHS, or under skill_paths in a settings.yaml"
        )
    return sorted(set(skills[name].depends), reverse=True)
