"""Turns recorded calls into the steps of a workflow, as far as their tools are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from callboard.calls.tools import BATCH
from callboard.content import Json
from callboard.skills.model import SkillMetadata, ToolDeclaration

#: Maximum number of calls that a workflow's file may have.
MAX_CALLS = 300
#: The prefixes of callboard's own tools, which belong to no skill.
_OWN = ("files__", "jobs__", "mcpeye_", "skills__", "workflows__")
_WAY = re.compile(r"[A-Za-z0-9_.-]*")


class Reference(str):
    """A placeholder for a value: ``{{way}}``, as workflows write it."""

    def __new__(cls, way: str) -> Reference:
        return super().__new__(cls, f"{{{{{way}}}}}")


class RecordedCall(Protocol):
    """The parts of a record that are needed here. ``result`` is None when it wasn't kept."""

    @property
    def tool(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def arguments(self) -> Any: ...
    @property
    def result(self) -> Any: ...
    @property
    def intent(self) -> str | None: ...
    @property
    def undo_id(self) -> str | None: ...


@dataclass
class Made:
    """One step being made. ``args`` is its own copy, in which references replace values."""

    id: str
    wire: str
    skill: SkillMetadata
    tool: ToolDeclaration
    args: Json
    result: Json | None
    #: The ids of steps whose results it uses.
    uses: set[str] = field(default_factory=set)

    @property
    def only_reads(self) -> bool:
        return self.tool.annotations.get("readOnlyHint") is True


@dataclass(frozen=True)
class Place:
    """One value among a step's arguments, with the keys that lead to it, the nearest named key
    above it, and the value's schema. A list of numbers is one value."""

    way: tuple[str | int, ...]
    key: str
    schema: Mapping[str, Any]
    value: Any


def known_tools(
    skills: Iterable[SkillMetadata],
) -> dict[str, tuple[SkillMetadata, ToolDeclaration]]:
    return {skill.wire_name(tool.name): (skill, tool) for skill in skills for tool in skill.tools}


def steps_of(
    calls: Sequence[RecordedCall],
    known: Mapping[str, tuple[SkillMetadata, ToolDeclaration]],
) -> tuple[list[Made], list[str]]:
    """Return the successful calls as steps, oldest first, and a sentence for each tool left out."""
    steps: list[Made] = []
    left_out: dict[str, None] = {}
    for call in calls:
        if call.outcome != "ok":
            continue
        #: The ids of a batch's steps so far, with an empty string for each step left out.
        numbered: list[str] = []
        for wire, arguments, result in _single(call):
            id, uses = "", set[str]()
            args = _referring(arguments, numbered, uses)
            if wire not in known:
                left_out[f"{wire}: {_unknown(wire)}"] = None
            elif not isinstance(arguments, dict) or "[truncated]" in arguments:
                left_out[f"{wire}: its arguments were too large to be kept"] = None
            elif len(steps) >= MAX_CALLS:
                left_out[f"all after {MAX_CALLS} calls"] = None
            elif "" in uses:
                left_out[f"{wire}: it uses the result of a call that was left out"] = None
            else:
                id = _id(wire, [step.id for step in steps])
                steps.append(Made(id, wire, *known[wire], args, result, uses))
            numbered.append(id)
    return steps, list(left_out)


def _unknown(wire: str) -> str:
    if wire.startswith(_OWN):
        return "it is callboard's own tool and can't be a step of a workflow"
    return "no skill on the search paths has it; name its skill's folder in CALLBOARD_SKILL_PATHS"


def _single(call: RecordedCall) -> Iterator[tuple[str, Any, Json | None]]:
    """Yield the call's tool, arguments and result, or for a batch those of each of its calls."""
    result = call.result if isinstance(call.result, dict) else None
    listed = call.arguments.get("calls") if isinstance(call.arguments, dict) else None
    if call.tool != BATCH or not isinstance(listed, list):
        yield call.tool, call.arguments, result
        return
    answers = (result or {}).get("results")
    for index, one in enumerate(listed):
        if isinstance(one, dict):
            answer = answers[index] if isinstance(answers, list) and index < len(answers) else {}
            inner = answer.get("result") if isinstance(answer, dict) else None
            arguments = one.get("arguments", {})
            yield str(one.get("tool")), arguments, inner if isinstance(inner, dict) else None


def _referring(value: Any, ids: Sequence[str], uses: set[str]) -> Any:
    """Return a copy in which a batch's references to its earlier calls have a workflow's form. Adds
    the ids of the referenced steps to ``uses``."""
    if isinstance(value, dict):
        number, way = value.get("$result"), str(value.get("path", ""))
        refers = value.keys() <= {"$result", "path"} and _WAY.fullmatch(way) is not None
        if refers and isinstance(number, int) and 0 <= number < len(ids):
            uses.add(ids[number])
            return Reference(".".join(filter(None, (ids[number], way))))
        return {key: _referring(item, ids, uses) for key, item in value.items()}
    return [_referring(item, ids, uses) for item in value] if isinstance(value, list) else value


def _id(wire: str, taken: Sequence[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9_]", "_", wire.rpartition("__")[2])[:50] or "step"
    base = base if base[0].isalpha() and base != "inputs" else f"step_{base}"
    id, number = base, 1
    while id in taken:
        number += 1
        id = f"{base}_{number}"
    return id


def places(step: Made) -> Iterator[Place]:
    """Yield all values of the step's arguments, in the order they are written."""
    yield from _places(step.args, (), "", step.tool.input_schema)


def _places(value: Any, way: tuple[str | int, ...], key: str, schema: Any) -> Iterator[Place]:
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, dict):
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        for name, item in value.items():
            yield from _places(item, (*way, name), name, properties.get(name))
    elif isinstance(value, list) and not all(map(is_number, value)):
        for index, item in enumerate(value):
            yield from _places(item, (*way, index), key, schema.get("items"))
    else:
        yield Place(way, key, schema, value)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def put(step: Made, way: Sequence[str | int], value: Any) -> None:
    """Write ``value`` to the place that ``way`` leads to."""
    inner: Any = step.args
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = value
