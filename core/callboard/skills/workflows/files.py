"""Reads ``*.workflow.yaml`` into :class:`Workflow`, and checks it without running it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from callboard.ground import safe_yaml
from callboard.protocol.tool_names import is_tool_name
from callboard.skills.model import Failure, SkillMetadata
from callboard.skills.skill_files import FileProblem, expand, read_text, relative
from callboard.skills.workflows.workflow import (
    ApproveStep,
    BranchStep,
    FailStep,
    ForeachStep,
    Input,
    ParallelStep,
    Retry,
    Step,
    ToolStep,
    Workflow,
    references,
)

MAX_STEPS = 500
MAX_PROBLEMS = 50

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_KINDS = ("tool", "foreach", "parallel", "branch", "approve", "fail")


class WorkflowProblem(Exception):
    """The file isn't a valid workflow. ``path`` is the position in the document."""

    def __init__(self, message: str, path: safe_yaml.Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def read_workflows(skill: SkillMetadata) -> tuple[list[Workflow], list[Failure]]:
    """Return a skill's workflows, sorted by file. If several have the same name, the first one is
    used."""
    by_name: dict[str, Workflow] = {}
    failures: list[Failure] = []
    listed = skill.workflows
    for reference in (listed,) if isinstance(listed, str) else listed or ():
        paths, problems = expand(skill.path, reference)
        failures += [Failure(skill.name, reference, p.kind, p.message, p.line) for p in problems]
        for path in paths:
            workflow, wrong = read_whole(skill, path)
            failures += wrong
            if workflow is None:
                continue
            if workflow.name in by_name:
                message = f"another workflow is already called '{workflow.name}'"
                shown = relative(skill.path, path)
                failures.append(Failure(skill.name, shown, "metadata", message, 1))
            else:
                by_name[workflow.name] = workflow
    return list(by_name.values()), failures


def read_workflow(skill: SkillMetadata, path: Path) -> Workflow | Failure:
    """Like :func:`read_whole`, but return only the first problem."""
    workflow, failures = read_whole(skill, path)
    return failures[0] if workflow is None else workflow


def read_whole(skill: SkillMetadata, path: Path) -> tuple[Workflow | None, list[Failure]]:
    """Return the workflow, or None and all its problems. ``path`` is a real path in the skill."""
    shown = relative(skill.path, path)
    try:
        text = read_text(skill.path, path)
        if not text.strip():
            raise FileProblem("empty", f"'{shown}' is empty")
        document = safe_yaml.load(text)
    except FileProblem as problem:
        return None, [Failure(skill.name, shown, problem.kind, problem.message, problem.line)]
    except safe_yaml.YamlError as error:
        return None, [Failure(skill.name, shown, "parse", error.message, error.line)]
    reader = _Reader(skill, path, document)
    workflow = None
    try:
        for where, key, _ in document.duplicates:
            raise WorkflowProblem(f"'{key}' is written twice", (*where, key))
        workflow = reader.workflow(document.value)
    except WorkflowProblem as wrong:
        reader.problems.append(wrong)
    failures = [
        Failure(skill.name, shown, "parse", problem.message, document.line(*problem.path))
        for problem in reader.problems[:MAX_PROBLEMS]
    ]
    failures = sorted(dict.fromkeys(failures), key=lambda one: one.line or 0)
    return (None if failures else workflow), failures


class _TooLong(WorkflowProblem):
    """The workflow has too many steps, so reading stops."""


class _Reader:
    """Reads a workflow, and continues past problems, which are collected in ``problems``."""

    def __init__(self, skill: SkillMetadata, path: Path, document: safe_yaml.Document) -> None:
        self._skill = skill
        self._path = path
        self._document = document
        self._affinities = {skill.wire_name(tool.name): tool.affinity for tool in skill.tools}
        self._ids: set[str] = set()
        self._unnamed: dict[str, int] = {}
        self._count = 0
        self.problems: list[WorkflowProblem] = []

    def workflow(self, value: Any) -> Workflow:
        if not isinstance(value, dict):
            raise WorkflowProblem("a workflow must be a mapping with name, description and steps")
        name = value.get("name")
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            self._wrong("'name' must be 1 to 64 of A-Z a-z 0-9 _ -", ("name",))
            name = ""
        inputs = tuple(self._inputs(value.get("inputs")))
        known = {"inputs", *(one.name for one in inputs)}
        steps = self._steps(value.get("steps"), ("steps",))
        if value.get("steps") == []:
            self._wrong("'steps' needs at least one step", ("steps",))
        inputs_known = {one.name for one in inputs}
        self._check_references(steps, known, inputs_known, ("steps",))
        description = _text(value, "description", (), required=False)
        return Workflow(
            *(name, description, self._skill.name, self._path, inputs, steps, self._unnamed)
        )

    def _inputs(self, value: Any) -> Iterator[Input]:
        if value is None:
            return
        if isinstance(value, list):
            entries = [(e.get("name") if isinstance(e, dict) else e, e) for e in value]
        elif isinstance(value, dict):
            entries = list(value.items())
        else:
            raise WorkflowProblem("'inputs' must be a mapping or a list", ("inputs",))
        seen: set[str] = set()
        for name, entry in entries:
            if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or name in seen:
                raise WorkflowProblem("each input needs a unique name", ("inputs",))
            seen.add(name)
            schema = {} if entry is None or isinstance(entry, str) else entry
            if not isinstance(schema, dict):
                raise WorkflowProblem(f"input '{name}' must be a mapping", ("inputs", name))
            required = schema.get("required", "default" not in schema)
            if not isinstance(required, bool):
                message = f"input '{name}': 'required' must be true or false"
                raise WorkflowProblem(message, ("inputs",))
            yield Input(
                name,
                _text(schema, "description", ("inputs", name), required=False),
                required,
                schema.get("default"),
                {k: v for k, v in schema.items() if k not in ("name", "required")},
            )

    def _steps(self, value: Any, path: safe_yaml.Path) -> tuple[Step, ...]:
        if not isinstance(value, list):
            self._wrong(f"'{path[-1]}' must be a list of steps", path)
            return ()
        return tuple(self._step_or_none(entry, (*path, index)) for index, entry in enumerate(value))

    def _step_or_none(self, entry: Any, path: safe_yaml.Path) -> Step:
        """Return the step, or an empty step in place of a wrong one, so that the rest is read as
        usual."""
        try:
            return self._step(entry, path)
        except _TooLong:
            raise
        except WorkflowProblem as problem:
            self.problems.append(problem)
            written = entry.get("id") if isinstance(entry, dict) else None
            return ToolStep(written if isinstance(written, str) else "", "")

    def _wrong(self, message: str, path: safe_yaml.Path) -> None:
        self.problems.append(WorkflowProblem(message, path))

    def _step(self, entry: Any, path: safe_yaml.Path) -> Step:
        self._count += 1
        if self._count > MAX_STEPS:
            raise _TooLong(f"has more than {MAX_STEPS} steps", path)
        if not isinstance(entry, dict):
            raise WorkflowProblem("a step must be a mapping", path)
        kind = entry.get("kind") or next((k for k in _KINDS if k in entry), None)
        if kind not in _KINDS:
            raise WorkflowProblem(f"a step must be one of {', '.join(_KINDS)}", (*path, "kind"))
        step_id = entry.get("id", f"step_{self._count}")
        if not isinstance(step_id, str) or not _IDENTIFIER.fullmatch(step_id):
            raise WorkflowProblem("'id' must be 1 to 64 of A-Z a-z 0-9 _ -", (*path, "id"))
        if step_id in self._ids or step_id == "inputs":
            raise WorkflowProblem(f"the id '{step_id}' is taken", (*path, "id"))
        self._ids.add(step_id)
        if "id" not in entry:
            self._unnamed[step_id] = self._document.line(*path)
        if kind == "tool":
            return self._tool(entry, step_id, path)
        if kind == "foreach":
            return self._foreach(entry, step_id, path)
        if kind == "parallel":
            return self._parallel(entry, step_id, path)
        if kind == "branch":
            return self._branch(entry, step_id, path)
        message = entry.get(kind, entry.get("message", entry.get("prompt")))
        if not isinstance(message, str) or not message.strip():
            raise WorkflowProblem(f"'{kind}' needs text that explains it", path)
        made = ApproveStep if kind == "approve" else FailStep
        return made(step_id, message.strip())

    def _tool(self, entry: Mapping[str, Any], step_id: str, path: safe_yaml.Path) -> ToolStep:
        tool = entry.get("tool")
        if not is_tool_name(tool):
            raise WorkflowProblem("'tool' must be a tool's name", (*path, "tool"))
        args = entry.get("args", entry.get("arguments")) or {}
        if not isinstance(args, dict):
            raise WorkflowProblem("'args' must be a mapping", (*path, "args"))
        timeout = entry.get("timeout_secs", entry.get("timeout"))
        seconds = None if timeout is None else _number(timeout, (*path, "timeout"))
        return ToolStep(step_id, tool, args, _retry(entry, path), seconds)

    def _foreach(self, entry: Mapping[str, Any], step_id: str, path: safe_yaml.Path) -> ForeachStep:
        items = entry.get("items", entry.get("foreach"))
        if not isinstance(items, list) and not (isinstance(items, str) and [*references(items)]):
            self._wrong("'foreach' needs a list, or a reference to one", path)
        variable = entry.get("as", "item")
        if not isinstance(variable, str) or not _IDENTIFIER.fullmatch(variable):
            raise WorkflowProblem("'as' must be a name", (*path, "as"))
        return ForeachStep(step_id, items, variable, self._some(entry, "steps", path))

    def _parallel(
        self, entry: Mapping[str, Any], step_id: str, path: safe_yaml.Path
    ) -> ParallelStep:
        key = "steps" if "steps" in entry else "parallel"
        steps: list[ToolStep] = []
        for index, step in enumerate(self._some(entry, key, path)):
            here = (*path, key, index)
            if not isinstance(step, ToolStep):
                self._wrong("'parallel' can contain only tool calls", here)
                step = ToolStep(step.id, "")
            if self._affinities.get(step.tool, "any") != "any":
                message = f"'{step.tool}' runs on the main thread; 'parallel' needs affinity: any"
                self._wrong(message, here)
            steps.append(step)
        return ParallelStep(step_id, tuple(steps))

    def _branch(self, entry: Mapping[str, Any], step_id: str, path: safe_yaml.Path) -> BranchStep:
        on = entry.get("on", entry.get("branch"))
        if not isinstance(on, str) or not [*references(on)]:
            self._wrong("'branch' needs a reference to decide on", path)
        checks = "equals" not in entry and "else" not in entry
        then = self._some(entry, "then", path)
        otherwise = self._steps(entry.get("else") or [], (*path, "else"))
        return BranchStep(
            *(step_id, on, then, None if checks else otherwise),
            *(entry.get("equals"), "equals" in entry),
        )

    def _some(self, entry: Mapping[str, Any], key: str, path: safe_yaml.Path) -> tuple[Step, ...]:
        if entry.get(key) == []:
            self._wrong(f"'{key}' needs at least one step", (*path, key))
        return self._steps(entry.get(key), (*path, key))

    def _check_references(
        self,
        steps: tuple[Step, ...],
        known: set[str],
        inputs: set[str],
        path: safe_yaml.Path,
    ) -> set[str]:
        """Check that every reference leads to an input, an earlier step or a loop variable. Return
        the names known after these steps."""
        known = set(known)
        for index, step in enumerate(steps):
            here = (*path, index)
            for value in _values(step):
                for reference in references(value):
                    head, *rest = reference.split(".")
                    if head not in known or (head == "inputs" and rest and rest[0] not in inputs):
                        message = (
                            f"'{{{{{reference}}}}}' isn't an input, an earlier step or a loop "
                            "variable"
                        )
                        self._wrong(message, here)
            if isinstance(step, ForeachStep):
                self._check_references(
                    step.steps, known | {step.variable}, inputs, (*here, "steps")
                )
            elif isinstance(step, ParallelStep):
                for number, inner in enumerate(step.steps):
                    where = (*here, "steps", number)
                    self._check_references((inner,), known, inputs, where)
                known |= {inner.id for inner in step.steps}
            elif isinstance(step, BranchStep):
                self._check_references(step.then, known, inputs, (*here, "then"))
                self._check_references(step.otherwise or (), known, inputs, (*here, "else"))
            known.add(step.id)
        return known


def _values(step: Step) -> tuple[Any, ...]:
    if isinstance(step, ToolStep):
        return (step.args,)
    if isinstance(step, ForeachStep):
        return (step.items,)
    if isinstance(step, BranchStep):
        return (step.on,)
    return (step.message,) if isinstance(step, (ApproveStep, FailStep)) else ()


def _retry(entry: Mapping[str, Any], path: safe_yaml.Path) -> Retry:
    value = entry.get("retry")
    here = (*path, "retry")
    if value is None:
        return Retry()
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"max_attempts": value}
    if not isinstance(value, dict):
        raise WorkflowProblem("'retry' must be a number of attempts, or a mapping", here)
    attempts = value.get("max_attempts", value.get("attempts"))
    if isinstance(attempts, bool) or not isinstance(attempts, int) or not 1 <= attempts <= 100:
        raise WorkflowProblem("'retry' must allow 1 to 100 attempts", here)
    backoff = value.get("backoff", entry.get("backoff", "exponential"))
    if backoff not in ("fixed", "linear", "exponential"):
        raise WorkflowProblem("'backoff' must be fixed, linear or exponential", here)
    delay = _number(value.get("initial_delay_ms", 500), here) / 1000
    longest = _number(value.get("max_delay_ms", 30_000), here) / 1000
    return Retry(attempts, backoff, delay, max(delay, longest))


def _number(value: Any, path: safe_yaml.Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WorkflowProblem("must be a number", path)
    if not 0 < value < 10**9 or not math.isfinite(value):
        raise WorkflowProblem("must be greater than 0", path)
    return float(value)


def _text(value: Mapping[str, Any], key: str, path: safe_yaml.Path, *, required: bool) -> str:
    text = value.get(key)
    if text is None and not required:
        return ""
    if not isinstance(text, str):
        raise WorkflowProblem(f"'{key}' must be text", (*path, key))
    return text.strip()
