"""Makes the reference pages of the docs from the code: commands from their help, tools from their
schemas, and the public Python API from its docstrings.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from callboard.skills.load import load_skill
from callboard.skills.model import ToolDeclaration
from callboard_programs.cli import COMMANDS, main
from callboard_programs.cli.schema_words import accepted, meaning

PROJECT = Path(__file__).resolve().parent.parent
#: The folders of the skills that ship, with the hosts that they are for.
SKILLS = {
    "core/callboard/skills/bundled": "every host that can",
    "hosts/callboard_blender/skills": "Blender",
    "hosts/callboard_maya/skills": "Maya",
    "hosts/callboard_houdini/skills": "Houdini",
    "hosts/callboard_max/skills": "3ds Max",
}
#: The modules that other projects import, with their purpose.
MODULES = {
    "callboard": "your own servers",
    "callboard.host": "adapters",
    "callboard_qt": "adapters of Qt applications",
    "callboard.skill": "skills",
    "callboard.content": "the content of tools' answers",
    "callboard.extensions": "bundles",
    "callboard.extensions.request_capability": "bundles that ask for a capability",
    "callboard.errors": "every exception",
    "callboard_testing.bench": "tests of skills",
    "callboard_testing.compliance": "tests of adapters",
    "callboard_testing.fake_host": "a host for tests",
    "callboard_testing.fake_client": "a client for tests",
}


def write_reference(folder: Path) -> None:
    """Make the folder, and write the pages into it as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("commands", commands()), ("tools", tools()), ("python", python())):
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- commands -------------------------------------------------------------------------


def commands() -> Iterator[str]:
    yield "# Commands, option by option\n\nThe output of each command's `--help`.\n"
    for name in COMMANDS:
        yield f"## `callboard {name}`\n\n```text\n{help_of(name)}\n```\n"


def help_of(command: str) -> str:
    """Return a command's help in lines of at most 80 characters, regardless of the terminal."""
    width = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "82"
    try:
        with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
            main([command, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width
    return shown.getvalue().rstrip()


# --- tools ----------------------------------------------------------------------------


def tools() -> Iterator[str]:
    yield "# Tools, argument by argument\n"
    yield "The tools that come with callboard. Arguments in **bold** are required.\n"
    for place, hosts in SKILLS.items():
        for file in sorted((PROJECT / place).glob("*/SKILL.md")):
            skill = load_skill(file.parent)
            yield f"## {skill.name}\n\n{skill.description} In {hosts}.\n"
            for tool in skill.tools:
                yield from tool_lines(skill.wire_name(tool.name), tool)


def tool_lines(name: str, tool: ToolDeclaration) -> Iterator[str]:
    yield f"### `{name}`\n\n{tool.description}\n"
    needs = ", ".join(f"`{each}`" for each in tool.required_capabilities) or "nothing"
    reads = tool.annotations.get("readOnlyHint") is True
    yield f"Needs {needs}. {'Only reads.' if reads else 'May change something.'}\n"
    properties: Mapping[str, Any] = tool.input_schema.get("properties") or {}
    if not properties:
        return
    required = tool.input_schema.get("required") or ()
    yield "| argument | type | meaning |\n|---|---|---|"
    for argument, schema in properties.items():
        shown = f"**`{argument}`**" if argument in required else f"`{argument}`"
        yield f"| {shown} | {cell(accepted(schema))} | {cell(meaning(schema))} |"
    yield ""


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


# --- Python ---------------------------------------------------------------------------


def python() -> Iterator[str]:
    yield "# The Python API\n"
    yield "The names that hosts, skills and other programs may import, with their docstrings. "
    yield "All other names may change without notice.\n"
    for name, use in MODULES.items():
        module = import_module(name)
        yield f"## {name}: {use}\n\n{docstring(module)}\n"
        for public in public_names(module):
            yield from object_lines(public, getattr(module, public))


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module exports, or, without ``__all__``, those that it defines."""
    exported = getattr(module, "__all__", None)
    if exported is not None:
        return sorted(exported)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module.__name__
    ]


def object_lines(name: str, value: Any) -> Iterator[str]:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return
    text = docstring(value)
    members = list(documented_members(value)) if inspect.isclass(value) else []
    if not (text or members):
        return
    yield f"### `{name}`\n"
    if inspect.isfunction(value):
        yield f"```python\n{signature(name, value)}\n```\n"
    yield text + "\n"
    for member, function in members:
        yield f"```python\n{signature(member, function)}\n```\n\n{docstring(function)}\n"


def documented_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members, and those that a subclass must define."""
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        shown = name[0] != "_" or getattr(value, "__isabstractmethod__", False)
        if shown and inspect.isfunction(function) and docstring(function):
            yield name, function


def signature(name: str, function: Any) -> str:
    """Return a signature on one line, or, if that is long, with a line for each parameter."""
    given = inspect.signature(function)
    prefix = "async def" if inspect.iscoroutinefunction(function) else "def"
    returned = given.return_annotation
    answer = f" -> {returned}" if isinstance(returned, str) else ""
    parameters = [
        str(each.replace(annotation=Verbatim(each.annotation)))
        if isinstance(each.annotation, str)
        else str(each)
        for each in given.parameters.values()
    ]
    short = f"{prefix} {name}({', '.join(parameters)}){answer}"
    if len(short) <= 88:
        return short
    return "\n".join([f"{prefix} {name}(", *(f"    {each}," for each in parameters), f"){answer}"])


class Verbatim:
    """An annotation as the source writes it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def docstring(value: Any) -> str:
    """Return a value's own docstring, but not one generated by ``dataclass``."""
    written = getattr(value, "__doc__", None) or ""
    name = getattr(value, "__name__", "")
    if written.startswith(f"{name}("):
        return ""
    plain = re.sub(r":\w+:`~?", "`", inspect.cleandoc(written))
    return plain.replace("<", "&lt;")
