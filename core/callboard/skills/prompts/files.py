"""The prompts of a skill, read when somebody asks and not before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callboard.skills import safe_yaml
from callboard.skills.file_stamps import Stamp, settled, stamp
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.prompts.derived import PromptReading, derive, workflow_prompt
from callboard.skills.prompts.prompt import Prompt, check_name, make_prompt
from callboard.skills.skill_files import FileProblem, is_glob, read_text, relative


def read_prompts(skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]:
    """Prompts sorted by name, and every entry or file that isn't one. Reads the disk each time."""
    reading = _read(skill)
    return _sorted(reading), reading.failures


def declares_prompts(skill: SkillMetadata) -> bool:
    """Whether the skill names anything that prompts could come from."""
    return bool(skill.prompts or skill.examples or skill.recipes or skill.workflows)


class PromptReader:
    """:func:`read_prompts` that reads again only what changed on disk. Any thread, several at once:
    nobody waits for another's disk."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamps, PromptReading]] = {}

    def read(self, skill: SkillMetadata) -> tuple[list[Prompt], list[Failure]]:
        known = self._known.get(skill.name)
        if known is not None:
            stamps, reading = known
            if reading.skill is skill and stamps == _stamps(reading):
                return _sorted(reading), list(reading.failures)
        self._known.pop(skill.name, None)
        began = time.time_ns()
        reading = _read(skill)
        stamps = _stamps(reading)
        if settled(stamps.values(), began):
            self._known[skill.name] = (stamps, reading)
        return _sorted(reading), list(reading.failures)

    def forget(self, skill_name: str) -> None:
        self._known.pop(skill_name, None)


_Stamps = dict[str, Stamp]


def _stamps(reading: PromptReading) -> _Stamps:
    """Of every file that was looked at, and of every file that a glob finds now."""
    stamps = {str(path): stamp(path) for path in reading.files}
    for pattern in reading.globs:
        for match in _glob(reading.skill.path, pattern):
            stamps[str(match)] = stamp(match)
    return stamps


def _glob(folder: Path, reference: str) -> list[Path]:
    try:
        return list(folder.glob(reference))
    except (OSError, ValueError, NotImplementedError, IndexError):
        return []


def _sorted(reading: PromptReading) -> list[Prompt]:
    return [reading.prompts[name] for name in sorted(reading.prompts)]


def _read(skill: SkillMetadata) -> PromptReading:
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
    """One prompt, or lists ``prompts`` and ``workflows``."""
    value = document.value
    if value is None:
        raise FileProblem("empty", f"'{shown}' is empty")
    if not isinstance(value, dict):
        raise FileProblem("parse", "must be a mapping", 1)
    if "template" in value or "name" in value:
        _explicit(reading, shown, document, (), value)
        return
    if "prompts" not in value and "workflows" not in value:
        raise FileProblem("parse", "holds neither 'prompts' nor 'workflows' nor a prompt", 1)
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
            raise FileProblem("parse", "a prompt is a mapping", line)
        try:
            prompt = make_prompt(entry, reading.skill.name, "explicit")
        except ValueError as error:
            raise FileProblem("parse", f"{_called(entry)}: {error}", line) from None
    except FileProblem as problem:
        reading.fail(problem, shown)
        return
    reading.add(prompt, shown, line)
    for name in prompt.undeclared():
        # The prompt stays: a client may still pass the argument.
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
        reading.fail(FileProblem("parse", "a workflow entry names one 'file'", line), shown)
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
