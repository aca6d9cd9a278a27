"""The values that describe a workflow, its inputs and its steps, and the meaning of ``{{…}}`` in
them.

A reference is a dotted path: ``inputs.name`` (or just ``name``), the id of an earlier step, or the
variable of a surrounding ``foreach``, each followed by keys or list positions, as in
``{{list.files.0}}``. A string that is one reference and nothing else becomes the value itself.
Within other text it becomes text. ``$.list.files`` is the same as ``{{list.files}}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callboard.errors import InvalidParams
from callboard.skills.prompts.prompt import as_text, fill, placeholders

Backoff = Literal["fixed", "linear", "exponential"]

_WHOLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}|\$\.([A-Za-z_][A-Za-z0-9_.-]*)")


@dataclass(frozen=True)
class Retry:
    """A step's retries. ``attempts`` counts the first one too. Delays are in seconds."""

    attempts: int = 1
    backoff: Backoff = "exponential"
    delay_secs: float = 0.5
    max_delay_secs: float = 30.0

    def delay_before(self, attempt: int) -> float:
        """Return the seconds to wait before an attempt. ``attempt`` counts from 1."""
        passed = attempt - 1
        if self.backoff == "fixed":
            factor = 1
        elif self.backoff == "linear":
            factor = passed
        else:
            factor = 1 << min(passed - 1, 30)
        return min(self.delay_secs * factor, self.max_delay_secs)


@dataclass(frozen=True)
class Input:
    """One input. ``schema`` is its JSON Schema, as written."""

    name: str
    description: str = ""
    required: bool = True
    default: Any = None
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolStep:
    """Calls ``tool``, a wire name. Later steps see its result under ``id``."""

    id: str
    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    retry: Retry = field(default_factory=Retry)
    timeout_secs: float | None = None


@dataclass(frozen=True)
class ForeachStep:
    """Runs ``steps`` once for each of ``items`` (a list, or a reference to one), in order."""

    id: str
    items: Any
    variable: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class ParallelStep:
    """Runs ``steps`` at the same time. They are calls to tools with ``affinity: any``."""

    id: str
    steps: tuple[ToolStep, ...]


@dataclass(frozen=True)
class BranchStep:
    """Runs ``then`` when ``on`` is true, or equals ``equals`` if that is given, and ``otherwise``
    in all other cases. When ``equals`` isn't given and ``otherwise`` is None, the step is a check:
    the run fails unless ``on`` is true."""

    id: str
    on: Any
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] | None = ()
    equals: Any = None
    has_equals: bool = False

    def takes_then(self, value: Any) -> bool:
        return bool(value == self.equals if self.has_equals else value)


@dataclass(frozen=True)
class ApproveStep:
    """Waits for the artist's consent to continue. ``message`` may contain references."""

    id: str
    message: str


@dataclass(frozen=True)
class FailStep:
    """Ends the run as failed. ``message`` may contain references."""

    id: str
    message: str


Step = ToolStep | ForeachStep | ParallelStep | BranchStep | ApproveStep | FailStep


@dataclass(frozen=True)
class Workflow:
    name: str
    description: str
    skill: str
    path: Path
    inputs: tuple[Input, ...] = ()
    steps: tuple[Step, ...] = ()
    #: For each step without an id in the file: the line of the step, by the id that it was given.
    unnamed: Mapping[str, int] = field(default_factory=dict)

    def step_words(self, where: str, kind: str = "step") -> str:
        """Return a step's description, by which the workflow's author can find it. ``where`` is the
        step's name in the run's status: the rounds of the loops around it, and then its id, as in
        ``loop[0].step``."""
        *rounds, id = where.split(".")
        if id not in self.unnamed:
            return f"{kind} '{where}'"
        inside = [f", {self._round(each)}" for each in reversed(rounds)]
        return f"{kind} '{where}' in line {self.unnamed[id]} of {self.path.name}{''.join(inside)}"

    def _round(self, where: str) -> str:
        id, _, index = where.rstrip("]").partition("[")
        loop = f"the loop in line {self.unnamed[id]}" if id in self.unnamed else f"'{id}'"
        return f"round {int(index) + 1} of {loop}"

    def input_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs with defaults. Raises InvalidParams for unknown and missing ones."""
        known = {one.name for one in self.inputs}
        for name in given:
            if name not in known:
                names = ", ".join(sorted(known)) or "none"
                raise InvalidParams(
                    f"workflow '{self.name}' has no input '{name}'; it has: {names}"
                )
        values: dict[str, Any] = {}
        for one in self.inputs:
            if one.name in given:
                values[one.name] = given[one.name]
            elif one.required:
                raise InvalidParams(f"workflow '{self.name}' needs the input '{one.name}'")
            else:
                values[one.name] = one.default
        return values


def substeps(step: Step) -> tuple[Step, ...]:
    if isinstance(step, (ForeachStep, ParallelStep)):
        return step.steps
    if isinstance(step, BranchStep):
        return step.then + (step.otherwise or ())
    return ()


def every_step(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield all steps, depth first, in the order they are written."""
    for step in steps:
        yield step
        yield from every_step(substeps(step))


def references(value: Any) -> Iterator[str]:
    """Yield every reference inside a value, as a dotted path."""
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        yield from [whole[1] or whole[2]] if whole else placeholders(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from references(item)


def resolve(value: Any, scope: Mapping[str, Any]) -> Any:
    """Return ``value`` with its references replaced. ``scope`` has ``inputs``, the results by step
    id and the loop variables. Raises InvalidParams for a path that leads nowhere."""
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        if whole:
            return _look_up(whole[1] or whole[2], scope)
        return fill(value, lambda path: as_text(_look_up(path, scope)))
    if isinstance(value, Mapping):
        return {key: resolve(item, scope) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [resolve(item, scope) for item in value]
    return value


def _look_up(path: str, scope: Mapping[str, Any]) -> Any:
    head, *rest = path.split(".")
    if head not in scope:
        head, rest = "inputs", [head, *rest]
    value = scope.get(head)
    for key in rest:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise InvalidParams(f"'{{{{{path}}}}}' leads nowhere: there is no '{key[:64]}'")
    return value
