"""The files of a skill that is made from a run."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from callboard.content import Json
from callboard.skills.from_calls.inputs import Wanted
from callboard.skills.from_calls.steps import Made

#: Characters that YAML doesn't allow unescaped inside quotation marks.
_UNQUOTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
#: Properties of an object that a test can compare on any host.
_COMPARED = ("translate", "rotate", "scale")


@dataclass(frozen=True)
class Draft:
    """A skill being made. ``requests`` has the agent's tasks, oldest first, redacted."""

    name: str
    steps: Sequence[Made]
    inputs: Sequence[Wanted]
    requests: Sequence[str]

    @property
    def workflow(self) -> str:
        """The workflow's own name."""
        name = self.name.replace("-", "_")
        return name if name[0].isalpha() else f"run_{name}"[:64]

    @property
    def needs(self) -> list[str]:
        """The capabilities that the steps' tools need, sorted."""
        return sorted({need for step in self.steps for need in step.tool.required_capabilities})

    @property
    def wanted(self) -> list[str]:
        """The inputs that the workflow's user must give."""
        return [one.name for one in self.inputs if one.required]

    def files(self) -> dict[str, str]:
        return {
            "SKILL.md": _skill(self),
            f"{self.workflow}.workflow.yaml": _workflow(self),
            "prompts.yaml": _prompts(self),
            "tests/conftest.py": _CONFTEST,
            f"tests/test_{self.workflow}.py": _test(self),
        }


def facts(result: Json) -> Json:
    """Return the facts in a result that are the same on any host: counts of created and deleted
    objects, and positions."""
    kept: Json = {
        key: len(result[key])
        for key in ("created", "deleted")
        if isinstance(result.get(key), list) and result[key]
    }
    if result.get("verified") is True:
        kept["verified"] = True
    thing = result.get("object")
    placed = thing if isinstance(thing, dict) else {}
    return kept | {key: placed[key] for key in _COMPARED if isinstance(placed.get(key), list)}


def _quoted(value: Any) -> str:
    """Return the value as JSON, which is also YAML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _UNQUOTABLE.sub(lambda one: f"\\u{ord(one[0]):04x}", text)


def _does(draft: Draft) -> str:
    if draft.requests:
        return " ".join(draft.requests)[:600]
    return ", ".join(dict.fromkeys(step.tool.name for step in draft.steps))[:600]


def _skill(draft: Draft) -> str:
    depends = sorted({step.skill.name for step in draft.steps})
    needs = (
        f"Needs {', '.join(draft.needs)}." if draft.needs else ("Needs no capability of its host.")
    )
    steps = "\n".join(f"- `{step.id}`: `{step.wire}`" for step in draft.steps)
    return f"""\
---
name: {draft.name}
description: {_quoted(f"Does again, in one go, what succeeded before: {_does(draft)}")}
compatibility: {_quoted(needs)}
metadata:
  dcc-mcp:
    version: "0.1.0"
    tags: [from-calls]
    depends: {_quoted(depends)}
    prompts: prompts.yaml
    workflows: "*.workflow.yaml"
---

# {draft.name}

Made from recorded calls. Run it by `workflows__run` with `{draft.name}.{draft.workflow}`. {needs}

{steps}
"""


def _workflow(draft: Draft) -> str:
    lines = [f"name: {draft.workflow}", f"description: {_quoted(_does(draft))}"]
    if draft.inputs:
        lines.append("inputs:")
    for one in draft.inputs:
        given = {} if one.required else {"default": one.default}
        lines.append(f"  {one.name}: {_quoted({**one.schema, **given})}")
    lines.append("steps:")
    for step in draft.steps:
        lines += [f"  - id: {step.id}", f"    tool: {step.wire}"]
        if step.args:
            lines.append(f"    args: {_quoted(step.args)}")
    return "\n".join(lines) + "\n"


def _prompts(draft: Draft) -> str:
    requests = [re.sub(r"[{}]", "", request_text) for request_text in draft.requests]
    asked = "\n".join(f"      - {request_text}" for request_text in requests)
    lines = [
        "prompts:",
        f"  - name: {draft.workflow}",
        f"    description: {_quoted(_does(draft)[:200])}",
    ]
    if draft.inputs:
        lines.append("    arguments:")
    for one in draft.inputs:
        text = one.default if isinstance(one.default, str) else json.dumps(one.default)
        about = {"name": one.name, "description": one.schema.get("description", one.name)}
        given = {"required": True} if one.required else {"default": text}
        lines.append(f"      - {_quoted({**about, **given})}")
    lines.append("    template: |")
    if asked:
        lines += ["      These were the tasks of a run that succeeded:", asked, ""]
    lines.append(
        f"      Do it again: call workflows__run with name '{draft.name}.{draft.workflow}'"
        + (" and these inputs." if draft.inputs else ".")
    )
    lines += [f"      {one.name}: {{{{{one.name}}}}}" for one in draft.inputs]
    lines.append("      Then check its answer, and report what was made.")
    return "\n".join(lines) + "\n"


_CONFTEST = """\
from callboard_testing.pytest_plugin import callboard_skill, callboard_skill_paths

__all__ = ["callboard_skill", "callboard_skill_paths"]
"""


def _test(draft: Draft) -> str:
    files = {one.name: [one.file, one.reads] for one in draft.inputs if one.file is not None}
    unknown = [one.name for one in draft.inputs if one.required and one.file is None]
    values = "".join(f"    {json.dumps(name)}: ...,\n" for name in unknown)
    results = [(step.id, facts(step.result)) for step in draft.steps if step.result is not None]
    expected = "".join(f"    {id!r}: {each!r},\n" for id, each in results if each)
    full = f"{draft.name}.{draft.workflow}"
    return _TEST.format(
        values=f"{{\n{values}}}" if values else "{}",
        files=repr(files),
        expected=f"{{\n{expected}}}" if expected else "{}",
        full=full,
        prompt=draft.workflow,
        arguments=repr(dict.fromkeys(draft.wanted, "x")),
    )


_TEST = '''\
"""Made from a recorded run: does it again on an empty scene. Run with pytest."""

import pytest
from callboard.errors import CapabilityMissing

#: Inputs that weren't written down; put values in place of the dots.
INPUTS = {values}
#: Files by input, and whether one must be there before: then put it into tests/files.
FILES = {files}
#: What the steps answered: how many things they made and deleted, and where things were.
EXPECTED = {expected}


def test_it_is_well_made(callboard_skill):
    assert callboard_skill.lint() == []


def test_the_prompt_names_the_workflow(callboard_skill):
    assert "{full}" in callboard_skill.prompt("{prompt}", **{arguments})


def test_it_does_again_what_was_done(callboard_skill, tmp_path):
    inputs = dict(INPUTS)
    for name, (file, must_be_there) in FILES.items():
        kept = callboard_skill.folder / "tests" / "files" / file
        if must_be_there and not kept.is_file():
            pytest.skip(f"put {{file}} into tests/files")
        inputs[name] = str(kept if must_be_there else tmp_path / file)
    if ... in inputs.values():
        pytest.skip("put values into INPUTS")
    try:
        run = callboard_skill.call("workflows__run", name="{full}", inputs=inputs)
    except CapabilityMissing as missing:
        pytest.skip(str(missing))
    results = {{step["step"]: step["result"] for step in run["steps"]}}
    for step, expected in EXPECTED.items():
        result = results[step]
        for key, value in expected.items():
            if key in ("created", "deleted"):
                assert len(result[key]) == value, step
            elif key == "verified":
                assert result[key] is True, step
            else:
                assert result["object"][key] == pytest.approx(value, abs=1e-3), step
'''
