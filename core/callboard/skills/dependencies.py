"""In which order skills are loaded that depend on each other."""

from __future__ import annotations

from collections.abc import Mapping

from callboard.errors import SkillError

from .load import SKILL_FILE
from .model import Failure, SkillMetadata


def load_order(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """``name`` and all it needs, what is needed first; by name where that leaves a choice.

    Raises SkillError, naming the skill that isn't there or the whole cycle.
    """
    order: list[str] = []
    # Not recursive: a chain of depends is as long as its authors like.
    trail: list[tuple[str, list[str]]] = [(name, _needs(name, skills, None))]
    while trail:
        current, waiting = trail[-1]
        if not waiting:
            trail.pop()
            order.append(current)
            continue
        needed = waiting.pop()
        if needed in order:
            continue
        names = [one for one, _ in trail]
        if needed in names:
            cycle = [*names[names.index(needed) :], needed]
            raise SkillError(f"skills depend on each other in a circle: {' -> '.join(cycle)}")
        trail.append((needed, _needs(needed, skills, current)))
    return order


def dependents(name: str, skills: Mapping[str, SkillMetadata]) -> list[str]:
    """Who names ``name`` in ``depends``, sorted."""
    return sorted(other for other, skill in skills.items() if name in skill.depends)


def dependency_failures(skills: Mapping[str, SkillMetadata]) -> list[Failure]:
    """One for every skill that can't be loaded for the sake of its ``depends``."""
    found: list[Failure] = []
    for name, skill in sorted(skills.items()):
        if skill.depends:
            try:
                load_order(name, skills)
            except SkillError as error:
                found.append(Failure(name, SKILL_FILE, "metadata", error.message))
    return found


def _needs(name: str, skills: Mapping[str, SkillMetadata], needed_by: str | None) -> list[str]:
    """The direct needs, the one to take first at the end."""
    if name not in skills:
        by = f"skill '{needed_by}' depends on '{name}', which" if needed_by else f"skill '{name}'"
        raise SkillError(f"{by} isn't on the search paths; find it, or list what is there")
    return sorted(set(skills[name].depends), reverse=True)
