"""Describes a workflow in words, for an agent that narrates it or performs it by hand."""

from __future__ import annotations

from collections.abc import Iterator

from callboard.skills.workflows.workflow import (
    BranchStep,
    FailStep,
    ForeachStep,
    ParallelStep,
    Step,
    ToolStep,
    Workflow,
)


def summary(workflow: Workflow) -> str:
    """Return the workflow's steps in words, for an agent that narrates or performs them."""
    lines = [
        f"Workflow: {workflow.description or workflow.name}",
        "",
        "It runs these steps, in this order:",
        *_numbered(workflow.steps, "  "),
    ]
    if workflow.inputs:
        lines += ["", "Inputs:"]
        for one in workflow.inputs:
            need = "required" if one.required else "optional"
            about = f": {one.description}" if one.description else ""
            lines.append(f"  - {one.name} ({need}){about}")
    lines += [
        "",
        f'Run it with `workflows__run` and name "{workflow.skill}.{workflow.name}", '
        "or call the tools yourself in the order above.",
    ]
    return "\n".join(lines)


def _numbered(steps: tuple[Step, ...], indent: str) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield f"{indent}{number}. {_one_line(step)}"
        if isinstance(step, (ForeachStep, ParallelStep)):
            yield from _numbered(step.steps, indent + "   ")
        elif isinstance(step, BranchStep):
            yield from _numbered(step.then, indent + "   ")
            if step.otherwise:
                yield f"{indent}   otherwise:"
                yield from _numbered(step.otherwise, indent + "   ")


def _one_line(step: Step) -> str:
    if isinstance(step, ToolStep):
        return step.tool
    if isinstance(step, ForeachStep):
        return f"[foreach] {step.id}: for each {step.variable} in {step.items}"
    if isinstance(step, ParallelStep):
        return f"[parallel] {step.id}"
    if isinstance(step, BranchStep):
        wanted = f" is {step.equals}" if step.has_equals else ""
        return f"[branch] {step.id}: if {step.on}{wanted}"
    kind = "fail" if isinstance(step, FailStep) else "approve"
    return f"[{kind}] {step.id}: {step.message}"
