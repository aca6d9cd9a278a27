"""The workflows of a skill: those it lists, and those its prompt files name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.skills import safe_yaml
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.skill_files import FileProblem, expand, read_text
from callboard.skills.workflows.files import read_workflow, read_workflows
from callboard.skills.workflows.workflow import Workflow


def workflows_of(skill: SkillMetadata) -> list[Workflow]:
    """As they are on disk now; the first of a name wins. What isn't a workflow is left out here:
    lint and the diagnostics of prompts tell of it."""
    by_name = {workflow.name: workflow for workflow in read_workflows(skill)[0]}
    for path in _named_by_prompts(skill):
        workflow = read_workflow(skill, path)
        if not isinstance(workflow, Failure):
            by_name.setdefault(workflow.name, workflow)
    return list(by_name.values())


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
