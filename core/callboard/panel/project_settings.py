"""The artist's settings for a project: its roots, their order, and how strict they are. Each
project has one small JSON file in the user's data folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.errors import CallboardError
from callboard.ground.atomic_write import replacing
from callboard.workspace.containment import Root, RootsPolicy, parse_root
from callboard.workspace.projects import project_file, project_of

__all__ = [
    "ProjectSettings",
    "Root",
    "RootsPolicy",
    "load",
    "parse_root",
    "project_of",
    "save",
    "settings_file",
]

_MOST_BYTES = 2**20
_MOST_ROOTS = 100


@dataclass(frozen=True)
class ProjectSettings:
    """The settings. ``problem`` is set when a file could not be read. In that case, all other
    fields are empty."""

    roots: tuple[Root, ...] = ()
    policy: RootsPolicy = "advisory"
    problem: str = ""


def settings_file(project: str) -> Path:
    """Return the path of a project's settings. The file may not exist."""
    return project_file(project)


def load(project: str) -> ProjectSettings | None:
    """Return the settings of a project, or None when there are none. Never raises."""
    path = settings_file(project)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError("it is too large")
        return _parse(json.loads(data))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, CallboardError) as error:
        return ProjectSettings(problem=f"{path.name} can't be used: {error}")


def save(project: str, settings: ProjectSettings, file: Path | None = None) -> None:
    """Replace the project's file atomically. ``file`` is the result of :func:`settings_file` at the
    time of the artist's decision. Raises OSError or HostError."""
    path = file or settings_file(project)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    roots = [
        {"uri": root.uri, "name": root.name, "read_only": root.read_only} for root in settings.roots
    ]
    value = {"project": project, "roots_policy": settings.policy, "roots": roots}
    with replacing(str(path)) as partial:
        Path(partial).write_text(json.dumps(value, indent=2), encoding="utf-8")


def _parse(value: Any) -> ProjectSettings:
    entries = value.get("roots") if isinstance(value, dict) else None
    if not isinstance(entries, list) or len(entries) > _MOST_ROOTS:
        raise ValueError("it has no list of roots")
    policy = value.get("roots_policy")
    if policy not in ("advisory", "strict"):
        raise ValueError("roots_policy must be advisory or strict")
    roots = []
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("uri"), str):
            raise ValueError("a root has no uri")
        name = entry.get("name")
        roots.append(
            parse_root(
                entry["uri"],
                name=name if isinstance(name, str) else None,
                read_only=entry.get("read_only") is True,
            )
        )
    return ProjectSettings(tuple(roots), policy)
