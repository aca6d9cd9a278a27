"""Checks skills on disk, one finding for each mistake. Runs none of their code."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import fastjsonschema

from callboard.calls.invisible import hides, shown
from callboard.ground import safe_yaml
from callboard.skills.called_function import Signatures
from callboard.skills.dependencies import dependency_failures
from callboard.skills.discovery import BUNDLED, load_all, skill_folders
from callboard.skills.frontmatter import written_line
from callboard.skills.lint_words import is_like, odd_words, tool_entries, tools_document, tools_file
from callboard.skills.load import load_skill
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata, ToolDeclaration, is_usable
from callboard.skills.packages import missing_imports
from callboard.skills.prompts.files import read_prompts
from callboard.skills.prompts.prompt import Prompt
from callboard.skills.requirements import requirement_failures
from callboard.skills.resource_files import ResourceDeclaration, read_resources
from callboard.skills.script_check import check_script
from callboard.skills.skill_files import FileProblem, read_text, resolve_inside
from callboard.skills.tool_entry import read_most, spellings
from callboard.skills.workflows.files import read_workflows
from callboard.workspace.fields import WORKSPACE_PATH, PathFields
from callboard_testing.lint.lint_functions import (
    check_function,
    check_variables,
    takes_paths,
    unawaited,
    undeclared_ports,
)
from callboard_testing.lint.needed_skills import needed_skills

Severity = Literal["error", "warning"]
#: Maximum number of folders that a message suggests instead of a folder without a skill.
_NAMED = 3
_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}


@dataclass(frozen=True)
class Finding:
    """One mistake. ``file`` is relative to the folder that was linted, with forward slashes."""

    file: str
    line: int
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"


def lint(folder: Path, search: Iterable[Path] = (), *, given: Path | None = None) -> list[Finding]:
    """Return findings about one skill, or about every skill in a folder of skills, sorted by file
    and line. A folder without any skill is a finding too. Skills that others depend on are searched
    for in ``search``, and beside a single skill. ``given`` is the folder's name in messages, if
    ``folder`` is a copy of it.
    """
    given = folder if given is None else given
    try:
        folders = list(skill_folders(folder))
    except OSError as error:
        return [Finding(".", 1, "error", f"can't be listed: {error.strerror or 'unreadable'}")]
    if not folders:
        return [Finding(".", 1, "error", _no_skill(folder, given))]
    findings: list[Finding] = []
    names: dict[str, str] = {}
    skills: dict[str, SkillMetadata] = {}
    places: dict[str, str] = {}
    for one, skill in load_all(folders, load_skill):
        prefix = "" if one == folder else f"{one.name}/"
        called = shlex.quote((given / one.relative_to(folder)).as_posix())
        for finding in _lint_skill(skill, one.name if prefix else skill.path.name, called):
            findings.append(
                Finding(prefix + finding.file, finding.line, finding.severity, finding.message)
            )
        wire = skill.wire_name("")
        # A folder with a skill's versions has the skill's name. Only one of the versions is served.
        version = skill.name in skills and skill.path.parent.name == skill.name
        if is_usable(skill) and wire in names and not version:
            message = f"the name clashes with the skill in '{names[wire]}'"
            line = written_line(one, "name")
            findings.append(Finding(f"{prefix}{SKILL_FILE}", line, "error", message))
        names.setdefault(wire, one.name)
        if is_usable(skill):
            skills[skill.name] = skill
            places[skill.name] = f"{prefix}{SKILL_FILE}"
    # Shipped skills are on every search path, so only their names matter here.
    shipped = {one.name: SkillMetadata(one.name, "", one) for one in skill_folders(BUNDLED)}
    beside = [given.absolute().parent] if folders == [folder] else []
    needed = needed_skills(skills, [*search, *beside])
    others = {name: one.skill for name, one in needed.items()}
    for failure in dependency_failures({**shipped, **others, **skills}):
        if failure.skill in places:
            # A missing skill may be on another search path, but circular dependencies are always
            # wrong.
            severity: Severity = "error" if " -> " in failure.message else "warning"
            line = written_line(skills[failure.skill].path, "depends")
            findings.append(Finding(places[failure.skill], line, severity, failure.message))
    return sorted(set(findings), key=lambda f: (f.file, f.line, f.message))


def _no_skill(folder: Path, given: Path) -> str:
    wanted = "a skill's folder, or the one right above it"
    deeper = (one for one in sorted(folder.iterdir()) if _is_above_skills(one))
    if names := [(given / one.name).as_posix() for one in islice(deeper, _NAMED)]:
        wanted = " or ".join(names)
    return f"no {SKILL_FILE} is in {given.as_posix()} or one level below it; give {wanted}"


def _is_above_skills(folder: Path) -> bool:
    try:
        return not folder.name.startswith((".", "__")) and any(skill_folders(folder))
    except OSError:
        return False


def _lint_skill(skill: SkillMetadata, folder_name: str, called: str) -> Iterator[Finding]:
    """Yield findings about one skill. ``called`` is its path, quoted for the commands in
    findings."""
    for failure in skill.failures:
        yield Finding(*_place(skill, failure), "error", failure.message)
    if not is_usable(skill):
        return
    # The skill may also be named after the folder above, if each version has a folder of its own.
    if skill.name not in (folder_name, skill.path.parent.name):
        message = f"the name '{skill.name}' differs from the folder's, '{folder_name}'"
        yield Finding(SKILL_FILE, written_line(skill.path, "name"), "warning", message)
    places = _tool_places(skill)
    prompts, prompt_failures = read_prompts(skill)
    resources, resource_failures = read_resources(skill)
    yield from _lint_invisible(skill, prompts, resources, partial(_at, *places))
    for tool in skill.tools:
        yield from _lint_tool(skill, tool, partial(_at, *places, tool.name))
    yield from _lint_half_read(skill, places[1])
    for file, line, message in odd_words(skill):
        yield Finding(file, line, "warning", message)
    yield from _lint_tests(skill)
    for resource in resources:
        yield from _lint_resource(skill, resource)
    for failure in requirement_failures(skill, called):
        yield Finding(*_place(skill, failure), "warning", failure.message)
    failures = prompt_failures + read_workflows(skill)[1] + resource_failures
    for failure in dict.fromkeys(failures):
        yield Finding(*_place(skill, failure), "error", failure.message)


def _lint_invisible(
    skill: SkillMetadata,
    prompts: Iterable[Prompt],
    resources: Iterable[ResourceDeclaration],
    at: Callable[[str], tuple[str, int]],
) -> Iterator[Finding]:
    """Yield a finding for each part of the skill (tool, prompt, resource, or the skill itself)
    whose listed texts contain invisible characters. ``at`` returns the file and line of a tool."""
    written: list[tuple[str, tuple[str, int], list[str | None]]] = []
    written.append(("the skill", (SKILL_FILE, 1), [skill.name, skill.description]))
    for tool in skill.tools:
        texts = [tool.name, tool.title, tool.description, _raw(tool.input_schema)]
        written.append((f"tool '{shown(tool.name)}'", at(tool.name), texts))
    for prompt in prompts:
        texts = [prompt.name, prompt.description, _raw(prompt.arguments)]
        written.append((f"prompt '{shown(prompt.name)}'", (skill.prompts or SKILL_FILE, 1), texts))
    for one in resources:
        texts = [one.name, one.title, one.description]
        written.append(
            (f"resource '{shown(one.name)}'", ((*skill.resources, SKILL_FILE)[0], 1), texts)
        )
    for what, place, texts in written:
        if any(hides(text) for text in texts if text):
            yield Finding(*place, "error", f"{what} contains invisible characters; remove them")


def _raw(value: Any) -> str:
    # Unlike str() of a dict, this keeps invisible characters as they are.
    return json.dumps(value, ensure_ascii=False, default=str)


def _lint_tests(skill: SkillMetadata) -> Iterator[Finding]:
    """Yield a finding for each test that uses our fixture without a conftest.py that provides
    it."""
    tests = skill.path / "tests"
    if any((folder / "conftest.py").is_file() for folder in (tests, *tests.parents)):
        return
    for path in sorted(tests.glob("test_*.py")):
        shown = path.relative_to(skill.path).as_posix()
        for number, line in enumerate(_lines(skill, shown), 1):
            if "callboard_skill" in line:
                message = (
                    "takes 'callboard_skill', and there is no tests/conftest.py that provides it; "
                    "write `from callboard_testing.pytest_plugin import *` into it"
                )
                yield Finding(shown, number, "warning", message)
                break


def _tool_places(
    skill: SkillMetadata,
) -> tuple[str, safe_yaml.Document, Mapping[str, safe_yaml.Path]]:
    """Return the tools' file, and the position of each tool in it."""
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
    *below: str | int,
) -> tuple[str, int]:
    where = places.get(tool, ())
    for spelling in () if key is None else spellings(key):
        if (*where, spelling) in document.lines:
            return file, document.line(*where, spelling, *below)
    return file, document.line(*where)


def _lint_tool(
    skill: SkillMetadata, tool: ToolDeclaration, at: Callable[..., tuple[str, int]]
) -> Iterator[Finding]:
    """Yield findings about a tool. ``at`` returns the file and line of the tool's entry, or of one
    of its keys."""
    if not tool.description and not is_like("description", tool.extra):
        message = f"tool '{tool.name}' has no description; say what it does and when to call it"
        yield Finding(*at(), "warning", message)
    for key, schema in (("input_schema", tool.input_schema), ("output_schema", tool.output_schema)):
        try:
            if schema is not None:
                fastjsonschema.compile(dict(schema))
        # The compiler may raise any error if the schema is bad.
        except Exception as error:
            message = f"tool '{tool.name}': '{key}' isn't a valid JSON Schema: "
            below, word = next(_unknown_types(schema), ((), ""))
            known = ", ".join(sorted(_TYPES))
            message += f"'{word}' isn't a type; the types are {known}" if word else str(error)
            yield Finding(*at(key, *below), "error", message)
    if tool.runs_code is not None:
        message = (
            f"tool '{tool.name}' runs code that its caller gives ({tool.runs_code}), so it needs "
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
    if of_files and not takes_paths(tool.input_schema):
        for name in PathFields.called_as_files(tool.input_schema, True).properties:
            message = (
                f"tool '{tool.name}' takes '{name}', which isn't marked as a path, so a relative "
                f"path isn't resolved in the workspace; give it 'format: {WORKSPACE_PATH}', in a "
                f'function Annotated[str, {{"format": "{WORKSPACE_PATH}"}}]'
            )
            yield Finding(*at("input_schema"), "warning", message)
    if tool.script is None:
        stem = tool.name.replace("-", "_")
        message = f"tool '{tool.name}' has no script to run; add scripts/{stem}.py, or source_file"
        yield Finding(*at(), "warning", message)
        return
    yield from _lint_script(skill, tool, tool.script)


def _unknown_types(value: Any, at: safe_yaml.Path = ()) -> Iterator[tuple[safe_yaml.Path, str]]:
    """Yield each unknown type name in a schema, with its place."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from _unknown_types(one, (*at, index))
    for key, one in value.items() if isinstance(value, Mapping) else ():
        if key == "type" and isinstance(one, (str, list)):
            words = one if isinstance(one, list) else [one]
            yield from (((*at, key), w) for w in words if isinstance(w, str) and w not in _TYPES)
        elif key not in ("default", "enum", "const", "examples"):  # These are values, not schemas.
            yield from _unknown_types(one, (*at, key))


def _lint_half_read(skill: SkillMetadata, document: safe_yaml.Document) -> Iterator[Finding]:
    """Yield findings about the scripts of tools whose entries have mistakes but do name a
    script."""
    signatures, read = Signatures(skill.path), {tool.name for tool in skill.tools}
    for at, entry in tool_entries(document):
        if entry.get("name") in read or document.duplicate_under(*at) is not None:
            continue
        tool, problems = read_most(entry, skill.path, signatures)
        wrong = {problem.key for problem in problems}
        if tool is None or tool.script is None or wrong & {*spellings("source_file"), "name"}:
            continue
        declared = wrong.isdisjoint(spellings("required_capabilities"))
        yield from _lint_script(skill, tool, tool.script, declared=declared)


def _lint_resource(skill: SkillMetadata, resource: ResourceDeclaration) -> Iterator[Finding]:
    function = resource.function
    if function is None or function.script is None:
        return
    findings = list(_lint_script(skill, function, function.script))
    yield from findings
    if not findings:
        script = function.script
        source = read_text(skill.path, script)
        for line, message in check_variables(source, resource.variables, function):
            yield Finding(script.relative_to(skill.path).as_posix(), line, "error", message)


def _misspelt_needs(tool: ToolDeclaration) -> bool:
    """Return whether the key for the tool's capabilities is misspelled, in which case the
    misspelling is the only finding."""
    return is_like("required_capabilities", tool.extra)


def _with_misspelt_needs(tool: ToolDeclaration) -> ToolDeclaration:
    """Return the tool as if the key for its capabilities were spelled correctly, so that missing
    capabilities are found."""
    needs = list(tool.required_capabilities)
    for key, value in tool.extra.items():
        if is_like("required_capabilities", [key]) and isinstance(value, list):
            needs += [word for word in value if isinstance(word, str)]
    return tool._replace(required_capabilities=tuple(needs))


def _lint_script(
    skill: SkillMetadata, tool: ToolDeclaration, script: Path, *, declared: bool = True
) -> Iterator[Finding]:
    """Yield findings about a script. ``declared`` is true if the tool's capabilities could be
    read."""
    shown = script.relative_to(skill.path).as_posix()
    try:
        source = read_text(skill.path, script)
    except FileProblem as problem:
        yield Finding(shown, problem.line or 1, "error", problem.message)
        return
    for line, message in check_script(source, tool):
        yield Finding(shown, line, "error", message)
    for line, message in check_function(source, tool):
        yield Finding(shown, line, "error", message)
    for line, message in unawaited(source):
        yield Finding(shown, line, "error", message)
    meant = _with_misspelt_needs(tool)
    for line, port in undeclared_ports(source, meant):
        if declared and not is_like(port, meant.required_capabilities):
            message = (
                f"tool '{tool.name}' uses the port '{port}' without declaring it; add it to its "
                "required_capabilities"
            )
            yield Finding(shown, line, "error", message)
    for place, line, message in missing_imports(script, skill):
        yield Finding(place, line, "warning", message)


def _place(skill: SkillMetadata, failure: Failure) -> tuple[str, int]:
    """Return the file and line of a failure. If the failure refers to a file that can't be read,
    return the file and line of the reference."""
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
