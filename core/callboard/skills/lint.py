"""What is wrong with skills on disk, one finding per mistake. Runs none of their code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import fastjsonschema

from callboard.skills import safe_yaml
from callboard.skills.dependencies import dependency_failures
from callboard.skills.discovery import load_all, skill_folders
from callboard.skills.lint_functions import check_function, takes_paths, undeclared_ports
from callboard.skills.lint_words import is_like, odd_words, tool_entries, tools_document, tools_file
from callboard.skills.load import load_skill
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata, ToolDeclaration, is_usable
from callboard.skills.packages import neighbours, to_install, unresolved
from callboard.skills.prompts.files import read_prompts
from callboard.skills.script_check import check_script
from callboard.skills.skill_files import FileProblem, read_text, resolve_inside
from callboard.skills.tool_entry import spellings
from callboard.skills.workflows.files import read_workflows

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """``file`` is relative to the folder that was linted, with forward slashes."""

    file: str
    line: int
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"


def lint(folder: Path) -> list[Finding]:
    """Findings about one skill, or about every skill in a folder of skills, sorted by place.

    No skill at all is a finding too.
    """
    try:
        folders = list(skill_folders(folder))
    except OSError as error:
        return [Finding(".", 1, "error", f"can't be listed: {error.strerror or 'unreadable'}")]
    if not folders:
        return [
            Finding(".", 1, "error", f"holds no skill: no {SKILL_FILE} here or one level below")
        ]
    findings: list[Finding] = []
    names: dict[str, str] = {}
    skills: dict[str, SkillMetadata] = {}
    places: dict[str, str] = {}
    for one, skill in load_all(folders, load_skill):
        prefix = "" if one == folder else f"{one.name}/"
        for finding in _lint_skill(skill, one.name if prefix else skill.path.name):
            findings.append(
                Finding(prefix + finding.file, finding.line, finding.severity, finding.message)
            )
        wire = skill.wire_name("")
        if is_usable(skill) and wire in names:
            message = f"the name clashes with the skill in '{names[wire]}'"
            findings.append(Finding(f"{prefix}{SKILL_FILE}", 1, "error", message))
        names.setdefault(wire, one.name)
        if is_usable(skill):
            skills[skill.name] = skill
            places[skill.name] = f"{prefix}{SKILL_FILE}"
    for failure in dependency_failures(skills):
        # What isn't here may well be on another search path; a circle is wrong everywhere.
        severity: Severity = "error" if " -> " in failure.message else "warning"
        findings.append(Finding(places[failure.skill], 1, severity, failure.message))
    return sorted(set(findings), key=lambda f: (f.file, f.line, f.message))


def _lint_skill(skill: SkillMetadata, folder_name: str) -> Iterator[Finding]:
    for failure in skill.failures:
        yield Finding(*_place(skill, failure), "error", failure.message)
    if not is_usable(skill):
        return
    if skill.name != folder_name:
        message = f"the name '{skill.name}' differs from the folder's, '{folder_name}'"
        yield Finding(SKILL_FILE, 1, "warning", message)
    places = _tool_places(skill)
    for tool in skill.tools:
        yield from _lint_tool(skill, tool, partial(_at, *places, tool.name))
    for file, line, message in odd_words(skill):
        yield Finding(file, line, "warning", message)
    for failure in dict.fromkeys(read_prompts(skill)[1] + read_workflows(skill)[1]):
        yield Finding(*_place(skill, failure), "error", failure.message)


def _tool_places(
    skill: SkillMetadata,
) -> tuple[str, safe_yaml.Document, Mapping[str, safe_yaml.Path]]:
    """The tools' file, and where in it each tool stands."""
    file, document = tools_document(skill) or (tools_file(skill), safe_yaml.Document(None))
    places: dict[str, safe_yaml.Path] = {}
    for at, entry in tool_entries(document):
        places.setdefault(str(entry.get("name")), at)
    return file, document, places


def _at(
    file: str,
    document: safe_yaml.Document,
    places: Mapping[str, safe_yaml.Path],
    tool: str,
    key: str | None = None,
) -> tuple[str, int]:
    where = places.get(tool, ())
    for spelling in () if key is None else spellings(key):
        if (line := document.lines.get((*where, spelling))) is not None:
            return file, line
    return file, document.line(*where)


def _lint_tool(
    skill: SkillMetadata, tool: ToolDeclaration, at: Callable[..., tuple[str, int]]
) -> Iterator[Finding]:
    """``at`` gives the file and the line of the tool's entry, or of a key of it."""
    if not tool.description and not is_like("description", tool.extra):
        message = f"tool '{tool.name}' has no description; say what it does and when to call it"
        yield Finding(*at(), "warning", message)
    for key, schema in (("input_schema", tool.input_schema), ("output_schema", tool.output_schema)):
        try:
            if schema is not None:
                fastjsonschema.compile(dict(schema))
        # The compiler raises whatever it stumbles over in a bad schema.
        except Exception as error:
            message = f"tool '{tool.name}': '{key}' isn't a valid JSON Schema: {error}"
            yield Finding(*at(key), "error", message)
    if tool.runs_code is not None:
        message = (
            f"tool '{tool.name}' runs code that it is given ({tool.runs_code}), so it needs "
            "script.execute; add that to its required_capabilities, or give it another name"
        )
        yield Finding(*at(), "warning", message)
    needs = tool.required_capabilities
    of_files = any(need.startswith("filesystem.") for need in needs)
    if not of_files and takes_paths(tool.input_schema) and not _misspelt_needs(tool):
        message = (
            f"tool '{tool.name}' takes a workspace-path, which is resolved only for a tool that "
            "reads or writes files; add filesystem.read or filesystem.write to its "
            "required_capabilities"
        )
        yield Finding(*at("input_schema"), "error", message)
    if tool.script is None:
        stem = tool.name.replace("-", "_")
        message = f"tool '{tool.name}' has no script to run; add scripts/{stem}.py, or source_file"
        yield Finding(*at(), "warning", message)
        return
    yield from _lint_script(skill, tool, tool.script)


def _misspelt_needs(tool: ToolDeclaration) -> bool:
    """Then one mistake is told, not all that follows from it."""
    return is_like("required_capabilities", tool.extra)


def _lint_script(skill: SkillMetadata, tool: ToolDeclaration, script: Path) -> Iterator[Finding]:
    shown = script.relative_to(skill.path).as_posix()
    try:
        source = read_text(skill.path, script)
    except FileProblem as problem:
        yield Finding(shown, problem.line or 1, "error", problem.message)
        return
    for line, message in check_script(source, tool):
        yield Finding(shown, line, "error", message)
    own_file = script.stem in (tool.name, tool.name.replace("-", "_").replace(".", "_"))
    for line, message in check_function(source, tool, own_file):
        yield Finding(shown, line, "error", message)
    for line, port in undeclared_ports(source, tool, own_file):
        if not _misspelt_needs(tool) and not is_like(port, tool.required_capabilities):
            message = (
                f"tool '{tool.name}' uses the port '{port}' without declaring it; add it to its "
                "required_capabilities"
            )
            yield Finding(shown, line, "error", message)
    for file in (script, *neighbours(script, skill.path)):
        place = file.relative_to(skill.path).as_posix()
        try:
            source = read_text(skill.path, file)
        except FileProblem:
            continue
        for line, name in unresolved(source, file, skill.path):
            message = f"imports '{name}', which isn't there; {to_install(name)}"
            yield Finding(place, line, "warning", message)


def _place(skill: SkillMetadata, failure: Failure) -> tuple[str, int]:
    """File and line. A reference that leads nowhere is wrong where it is written."""
    if failure.line is None:
        try:
            read_text(skill.path, resolve_inside(skill.path, failure.reference))
        except FileProblem:
            for file in (skill.prompts, tools_file(skill), SKILL_FILE):
                for number, line in enumerate(_lines(skill, file), 1):
                    if failure.reference in line:
                        return str(file), number
    return failure.reference, failure.line or 1


def _lines(skill: SkillMetadata, file: str | None) -> list[str]:
    try:
        inside = None if file is None else resolve_inside(skill.path, file)
        return [] if inside is None else read_text(skill.path, inside).splitlines()
    except FileProblem:
        return []
