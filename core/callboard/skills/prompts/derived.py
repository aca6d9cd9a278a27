"""Makes prompts from the examples, recipes and workflows of a skill that has no prompts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.prompt import Prompt, PromptSource
from callboard.skills.skill_files import FileProblem, expand, is_glob, read_text, relative
from callboard.skills.workflows.files import read_workflow
from callboard.skills.workflows.summary import summary
from callboard.skills.workflows.workflow import Workflow

MAX_BODY = 16_384
CUT_NOTE = "\n\n[cut here: the file is longer than 16384 characters]"

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class PromptReading:
    """The result of reading one skill's prompts. ``files`` are all files that were read or
    expected, and ``globs`` are the patterns that may find more."""

    def __init__(self, skill: SkillMetadata) -> None:
        self.skill = skill
        self.prompts: dict[str, Prompt] = {}
        self.failures: list[Failure] = []
        self.files: list[Path] = []
        self.globs: list[str] = []

    def sorted(self) -> list[Prompt]:
        """Return the prompts by name."""
        return [self.prompts[name] for name in sorted(self.prompts)]

    def add(self, prompt: Prompt, reference: str, line: int | None = None) -> None:
        if prompt.name in self.prompts:
            message = f"another prompt is already called '{prompt.name}'"
            self.failures.append(
                Failure(self.skill.name, reference, "metadata", message, line),
            )
        else:
            self.prompts[prompt.name] = prompt

    def fail(self, problem: FileProblem, reference: str) -> None:
        self.failures.append(
            Failure(self.skill.name, reference, problem.kind, problem.message, problem.line)
        )

    def expand(self, reference: str) -> list[Path]:
        paths, problems = expand(self.skill.path, reference)
        for problem in problems:
            self.fail(problem, reference)
        self.files += paths
        if is_glob(reference):
            self.globs.append(reference)
        else:
            self.files.append(self.skill.path / reference)  # A link's target may change.
        return paths

    def workflow(self, path: Path) -> Workflow | None:
        parsed = read_workflow(self.skill, path)
        if isinstance(parsed, Failure):
            self.failures.append(parsed)
            return None
        return parsed


def derive(reading: PromptReading) -> None:
    """Add the prompts from ``examples``, ``recipes`` and ``workflows``."""
    _documents(reading, "examples", reading.skill.examples)
    _documents(reading, "recipes", reading.skill.recipes)
    for path in _all_files(reading, reading.skill.workflows):
        workflow = reading.workflow(path)
        if workflow is not None:
            prompt = workflow_prompt(workflow, workflow.name, "workflow_metadata")
            reading.add(prompt, relative(reading.skill.path, path))


def workflow_prompt(workflow: Workflow, name: str, source: PromptSource) -> Prompt:
    description = f"The steps of the workflow {workflow.name}."
    if workflow.description:
        description = f"{description} {workflow.description}"
    return Prompt(name, workflow.skill, source, description, summary(workflow), literal=True)


def _documents(
    reading: PromptReading,
    word: Literal["examples", "recipes"],
    references: str | tuple[str, ...] | None,
) -> None:
    skill = reading.skill
    paths = _all_files(reading, references)
    for path in paths:
        shown = relative(skill.path, path)
        try:
            body = read_text(skill.path, path).strip()
            if not body:
                raise FileProblem("empty", f"'{shown}' is empty")
        except FileProblem as problem:
            reading.fail(problem, shown)
            continue
        if len(body) > MAX_BODY:
            body = body[:MAX_BODY] + CUT_NOTE
        name = f"{word}.{_NOT_IN_NAMES.sub('_', path.stem)}" if len(paths) > 1 else word
        text = (
            f"These are the {word} of the skill {skill.name}, from its file {shown}. "
            f"{_advice(skill)}\n\n{body}"
        )
        description = f"The {word} of the skill {skill.name} ({shown})."
        prompt = Prompt(name, skill.name, word, description, text, literal=True)
        reading.add(prompt, shown)


def _advice(skill: SkillMetadata) -> str:
    if not skill.tools:
        return "Follow them."
    own = skill.wire_name("*")
    return f"Follow them, and prefer the skill's own tools ({own}) to other ways."


def _all_files(reading: PromptReading, references: str | tuple[str, ...] | None) -> list[Path]:
    listed = (references,) if isinstance(references, str) else references or ()
    paths = [path for reference in listed for path in reading.expand(reference)]
    return list(dict.fromkeys(paths))
