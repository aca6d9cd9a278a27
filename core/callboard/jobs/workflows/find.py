"""Finds the workflows that a skill lists, and those that its prompt files name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from callboard.ground import safe_yaml
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.skill_files import FileProblem, expand, read_text, relative
from callboard.skills.workflows.files import read_workflow, read_workflows
from callboard.skills.workflows.workflow import Workflow

#: Maximum number of workflow files of a skill whose names are compared with its SKILL.md.
_MOST_FILES = 100


def workflows_of(skill: SkillMetadata) -> list[Workflow]:
    """Return the workflows that are on disk now. If several workflows have the same name, the first
    one wins. Invalid files are left out here: lint and the diagnostics of prompts report them."""
    by_name = {workflow.name: workflow for workflow in read_workflows(skill)[0]}
    for path in _named_by_prompts(skill):
        workflow = read_workflow(skill, path)
        if not isinstance(workflow, Failure):
            by_name.setdefault(workflow.name, workflow)
    return list(by_name.values())


def not_read(skill: SkillMetadata) -> Iterator[str]:
    """Yield a line, ``skill/file:line: why``, for each file whose workflow can't be run."""
    read, failures = read_workflows(skill)
    names = {relative(skill.path, workflow.path) for workflow in read}
    for path in _named_by_prompts(skill):
        workflow = read_workflow(skill, path)
        names.add(relative(skill.path, path))
        if isinstance(workflow, Failure):
            failures.append(workflow)
    names.update(failure.reference for failure in failures)
    first: dict[str, Failure] = {}
    for failure in failures:
        first.setdefault(failure.reference, failure)  # Only lint reports a file's other failures.
    for failure in first.values():
        yield f"{skill.name}/{failure.editor_line}"
    here = (skill.path.glob(f"{where}*.workflow.y*ml") for where in ("", "*/"))
    for path in islice(chain(*here), _MOST_FILES):
        if (file := relative(skill.path, path)) not in names:
            yield f"{skill.name}/{file}: SKILL.md doesn't name it under workflows"


def _named_by_prompts(skill: SkillMetadata) -> list[Path]:
    paths: list[Path] = []
    for path in expand(skill.path, skill.prompts)[0] if skill.prompts else ():
        try:
            value: Any = safe_yaml.load(read_text(skill.path, path)).value
        except (FileProblem, safe_yaml.YamlError):
            continue
        entries = value.get("workflows") if isinstance(value, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            file = entry.get("file") if isinstance(entry, dict) else entry
            if isinstance(file, str):
                paths += expand(skill.path, file)[0]
    return paths
