"""The prompts in a skill's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callboard.ground import safe_yaml
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.derived import PromptReading, derive, workflow_prompt
from callboard.skills.prompts.prompt import Prompt, check_name, make_prompt
from callboard.skills.skill_files import FileProblem, is_glob, read_text, relative


def read_prompts(skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]:
    """Return the prompts sorted by name, and the failures. Reads the disk each time."""
    reading = read(skill)
    return reading.sorted(), reading.failures


def read(skill: SkillMetadata) -> PromptReading:
    """Return the current prompts in the skill's files, and the list of these files."""
    reading = PromptReading(skill)
    if skill.prompts is None:
        derive(reading)
        return reading
    for path in reading.expand(skill.prompts):
        shown = relative(skill.path, path)
        try:
            text = read_text(skill.path, path)
            if not text.strip():
                raise FileProblem("empty", f"'{shown}' is empty")
            document = safe_yaml.load(text)
            _file(reading, shown, document)
        except FileProblem as problem:
            reading.fail(problem, shown)
        except safe_yaml.YamlError as error:
            reading.fail(FileProblem("parse", error.message, error.line), shown)
    return reading


def _file(reading: PromptReading, shown: str, document: safe_yaml.Document) -> None:
    """Read one prompt, or the lists ``prompts`` and ``workflows``."""
    value = document.value
    if value is None:
        raise FileProblem("empty", f"'{shown}' is empty")
    if not isinstance(value, dict):
        raise FileProblem("parse", "must be a mapping", 1)
    if "template" in value or "name" in value:
        _explicit(reading, shown, document, (), value)
        return
    if "prompts" not in value and "workflows" not in value:
        raise FileProblem("parse", "must have 'prompts', 'workflows', or one prompt's keys", 1)
    for key, read_entry in (("prompts", _explicit), ("workflows", _workflow)):
        entries = value.get(key)
        if entries is None:
            continue
        if not isinstance(entries, list):
            problem = FileProblem("parse", f"'{key}' must be a list", document.line(key))
            reading.fail(problem, shown)
            continue
        for index, entry in enumerate(entries):
            read_entry(reading, shown, document, (key, index), entry)


def _explicit(
    reading: PromptReading,
    shown: str,
    document: safe_yaml.Document,
    path: safe_yaml.Path,
    entry: Any,
) -> None:
    line = document.line(*path)
    try:
        repeated = document.duplicate_under(*path)
        if repeated is not None:
            raise FileProblem("parse", f"'{repeated[0]}' is written twice", repeated[1])
        if not isinstance(entry, Mapping):
            raise FileProblem("parse", "a prompt must be a mapping", line)
        try:
            prompt = make_prompt(entry, reading.skill.name, "explicit")
        except ValueError as error:
            raise FileProblem("parse", f"{_called(entry)}: {error}", line) from None
    except FileProblem as problem:
        reading.fail(problem, shown)
        return
    reading.add(prompt, shown, line)
    for name in prompt.undeclared():
        # The prompt is kept, because a client may still pass the argument.
        message = f"prompt '{prompt.name}': no argument declares the placeholder '{name}'"
        where = document.line(*path, "template")
        reading.fail(FileProblem("metadata", message, where), shown)


def _workflow(
    reading: PromptReading,
    shown: str,
    document: safe_yaml.Document,
    path: safe_yaml.Path,
    entry: Any,
) -> None:
    line = document.line(*path)
    file = entry.get("file") if isinstance(entry, Mapping) else entry
    if not isinstance(file, str) or is_glob(file):
        reading.fail(FileProblem("parse", "a workflow entry must name one 'file'", line), shown)
        return
    name = entry.get("prompt_name") if isinstance(entry, Mapping) else None
    try:
        if name is not None:
            check_name(name)
    except ValueError as error:
        message = str(error).replace("'name'", "'prompt_name'")
        reading.fail(FileProblem("parse", message, line), shown)
        return
    for matched in reading.expand(file):
        workflow = reading.workflow(matched)
        if workflow is not None:
            prompt = workflow_prompt(workflow, name or workflow.name, "workflow")
            reading.add(prompt, shown, line)


def _called(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    return f"prompt '{name[:64]}'" if isinstance(name, str) else "a prompt"
