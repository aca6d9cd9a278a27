"""Finds the skills that other skills depend on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from callboard.skills.discovery import BUNDLED, Found, scan, skill_folders
from callboard.skills.load import load_skill
from callboard.skills.model import SkillMetadata


def needed_skills(
    skills: Mapping[str, SkillMetadata], search: Iterable[Path], dcc: str | None = None
) -> dict[str, Found]:
    """Return, by name, the skills in the search paths that ``skills`` depend on, directly or not.
    Earlier paths take precedence. ``dcc`` is the host, or None for any. Shipped skills are left
    out, because every server has them. Skills are loaded only if one is needed."""
    have = {*skills, *(folder.name for folder in skill_folders(BUNDLED))}
    wanted = {name for skill in skills.values() for name in skill.depends} - have
    if not wanted:
        return {}
    paths = dict.fromkeys(path for path in search if path != BUNDLED)
    there = {one.skill.name: one for one in scan(paths, dcc, load_skill).skills}
    needed: dict[str, Found] = {}
    while wanted:
        name = wanted.pop()
        if name in there:
            needed[name] = there[name]
            wanted |= {*there[name].skill.depends} - have - {*needed}
    return needed
