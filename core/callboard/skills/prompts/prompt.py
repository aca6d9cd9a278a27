"""One prompt as a value, with its entry in a list and its rendered text.

A template supports ``{{name}}`` and nothing else. Whitespace inside the braces is trimmed. Anything
but a bare identifier between two pairs of braces is text. Values are inserted unchanged and aren't
scanned again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from callboard.errors import InvalidParams

PromptSource = Literal["explicit", "workflow", "workflow_metadata", "examples", "recipes", "manual"]

MANUAL_SKILL = "manual"
MAX_NAME = 128
#: Three opening braces aren't a placeholder, because ``{{{name}}}`` is another tool's syntax.
_PLACEHOLDER = re.compile(r"(?<!\{)\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}")


class Argument(NamedTuple):
    name: str
    description: str = ""
    required: bool = False
    default: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "required": self.required}


class Prompt(NamedTuple):
    """One prompt. ``body`` is a template or, with ``literal``, text that is served unchanged."""

    name: str
    skill: str
    source: PromptSource
    description: str
    body: str
    arguments: tuple[Argument, ...] = ()
    literal: bool = False

    @property
    def served_name(self) -> str:
        """``<skill>.<name>``, or the bare name for a prompt that an adapter registered."""
        if self.skill == MANUAL_SKILL or self.name.startswith(f"{self.skill}."):
            return self.name
        return f"{self.skill}.{self.name}"

    def list_entry(self) -> dict[str, Any]:
        """Return the prompt's entry in ``prompts/list``."""
        entry: dict[str, Any] = {"name": self.served_name, "description": self.description}
        if self.arguments:
            entry["arguments"] = [argument.as_json() for argument in self.arguments]
        entry["_meta"] = {"dcc.prompt_source": {"skill": self.skill, "source": self.source}}
        return entry

    def undeclared(self) -> list[str]:
        """Return the placeholders that no argument declares."""
        if self.literal:
            return []
        declared = {argument.name for argument in self.arguments}
        return [name for name in placeholders(self.body) if name not in declared]


def render(prompt: Prompt, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``prompts/get``'s answer. Raises InvalidParams for the first missing argument."""
    text = prompt.body if prompt.literal else _fill(prompt, arguments)
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": prompt.description, "messages": [message]}


def _fill(prompt: Prompt, arguments: Mapping[str, Any]) -> str:
    values = {name: as_text(value) for name, value in arguments.items() if value is not None}
    for argument in prompt.arguments:
        if argument.name in values:
            continue
        if argument.required:
            raise _missing(argument.name)
        values[argument.name] = argument.default or ""

    def value_of(name: str) -> str:
        if name not in values:
            raise _missing(name)
        return values[name]

    return fill(prompt.body, value_of)


def _missing(name: str) -> InvalidParams:
    return InvalidParams(f"missing required argument: {name}", data={"argument": name})


def make_prompt(spec: Mapping[str, Any], skill: str, source: PromptSource) -> Prompt:
    """Return a prompt from an entry of a file or from an adapter's code. Raises ValueError, whose
    message names the wrong member. Unknown members are ignored."""
    name = spec.get("name")
    check_name(name)
    description = spec.get("description")
    if not isinstance(description, str) or not description.strip():
        raise ValueError("'description' must be text")
    template = spec.get("template")
    if not isinstance(template, str) or not template.strip():
        raise ValueError("'template' must be text")
    listed = spec.get("arguments")
    if listed is not None and not isinstance(listed, (list, tuple)):
        raise ValueError("'arguments' must be a list")
    arguments = tuple(_argument(entry) for entry in listed or ())
    names = [argument.name for argument in arguments]
    for argument_name in names:
        if names.count(argument_name) > 1:
            raise ValueError(f"argument '{argument_name}' is declared twice")
    return Prompt(str(name), skill, source, description.strip(), template, arguments)


def check_name(name: Any) -> None:
    """Raise ValueError when a prompt can't have that name."""
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise ValueError("'name' must be text without spaces around it")
    if len(name) > MAX_NAME or not name.isprintable():
        raise ValueError(f"'name' must be at most {MAX_NAME} printable characters")


def _argument(entry: Any) -> Argument:
    if not isinstance(entry, Mapping):
        raise ValueError("an argument must be a mapping with a name")
    name = entry.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError("an argument's 'name' must be text")
    description = entry.get("description")
    if description is not None and not isinstance(description, str):
        raise ValueError(f"argument '{name}': 'description' must be text")
    required = entry.get("required")
    if required is not None and not isinstance(required, bool):
        raise ValueError(f"argument '{name}': 'required' must be true or false")
    default = entry.get("default")
    return Argument(
        name.strip(),
        (description or "").strip(),
        bool(required),
        None if default is None else as_text(default),
    )


def placeholders(template: str) -> list[str]:
    """Return the names used, each once, in order of appearance."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, value_of: Callable[[str], str]) -> str:
    """Return the template with every placeholder replaced with the result of ``value_of``. Raises
    the errors of ``value_of``."""
    return _PLACEHOLDER.sub(lambda match: value_of(match[1]), template)


def as_text(value: Any) -> str:
    """Return text unchanged, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
