import pytest

from callboard.errors import InvalidParams
from callboard.skills.load import load_skill
from callboard.skills.workflows.files import read_workflows
from callboard.skills.workflows.summary import summary
from callboard.skills.workflows.workflow import (
    ApproveStep,
    BranchStep,
    ForeachStep,
    ParallelStep,
    Retry,
    ToolStep,
    references,
    resolve,
)
from skills.skill_tree import write_skill

TOOLS = """\
tools:
- {name: read, affinity: any}
- {name: write, affinity: main}
"""

WHOLE = """\
name: intake
description: Import, check, publish.
inputs:
  date: {type: string, format: date, description: The day.}
  limit: {type: integer, default: 5}
steps:
  - id: list
    tool: s__read
    args: {date: "{{inputs.date}}", text: "at most {{limit}}"}
    timeout_secs: 30
    retry: {max_attempts: 3, backoff: linear, initial_delay_ms: 100, max_delay_ms: 150}
  - id: each
    kind: foreach
    items: "$.list.files"
    as: file
    steps:
      - tool: s__write
        args: {path: "{{file.path}}"}
  - foreach: [1, 2]
    steps: [{tool: other__x, args: {n: "{{item}}"}, retry: 2}]
  - parallel:
      - {id: a, tool: s__read}
      - {id: b, tool: other__y}
  - id: choose
    kind: branch
    on: "{{a.ok}}"
    then: [{approve: "Publish {{list.count}} files?"}]
    else: [{tool: s__write}]
  - branch: "{{b.state}}"
    equals: done
    then: [{tool: s__read, args: {last: "{{choose}}"}}]
"""


def read(tmp_path, *texts):
    files = {f"w{i}.workflow.yaml": text for i, text in enumerate(texts)}
    folder = write_skill(
        tmp_path,
        "s",
        block="tools: tools.yaml\nworkflows: '*.workflow.yaml'",
        files={"tools.yaml": TOOLS, **files},
    )
    return read_workflows(load_skill(folder))


def test_every_kind_of_step(tmp_path):
    (workflow,), failures = read(tmp_path, WHOLE)
    assert failures == []
    assert (workflow.name, workflow.description) == ("intake", "Import, check, publish.")
    assert [(i.name, i.required, i.default) for i in workflow.inputs] == [
        ("date", True, None),
        ("limit", False, 5),
    ]
    listed, each, numbers, both, choose, last = workflow.steps
    assert isinstance(listed, ToolStep)
    assert (listed.tool, listed.timeout_secs) == ("s__read", 30.0)
    assert listed.retry == Retry(3, "linear", 0.1, 0.15)
    assert isinstance(each, ForeachStep)
    assert (each.items, each.variable, each.steps[0].id) == ("$.list.files", "file", "step_3")
    assert isinstance(numbers, ForeachStep)
    assert (numbers.items, numbers.variable) == ([1, 2], "item")
    assert numbers.steps[0].retry.attempts == 2
    assert isinstance(both, ParallelStep)
    assert [step.id for step in both.steps] == ["a", "b"]
    assert isinstance(choose, BranchStep)
    assert isinstance(choose.then[0], ApproveStep)
    assert choose.otherwise[0].tool == "s__write"
    assert last.takes_then("done")
    assert not last.takes_then("other")
    assert not choose.takes_then([])


def test_the_summary_lists_the_steps_in_order(tmp_path):
    (workflow,), _ = read(tmp_path, WHOLE)
    lines = [line.strip() for line in summary(workflow).splitlines()]
    assert lines[0] == "Workflow: Import, check, publish."
    assert lines[3:5] == ["1. s__read", "2. [foreach] each: for each file in $.list.files"]
    assert lines[5] == "1. s__write"
    assert "otherwise:" in lines
    assert "- limit (optional)" in lines


STEP = "name: w\nsteps:\n  - "


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("[a]", "mapping", 1),
        ("steps: [{tool: t}]", "'name'", 1),
        ("name: w", "'steps'", 1),
        ("name: w\nsteps: []", "at least one", 2),
        ("name: w\nsteps: {a: b}", "list of steps", 2),
        ("name: w\nsteps: [{tool: t}]\ninputs: 3", "'inputs'", 3),
        ("name: w\nname: v\nsteps: [{tool: t}]", "twice", 1),
        (STEP + "3", "mapping", 3),
        (STEP + "{id: a}", "one of tool", 3),
        (STEP + "{kind: tool_remote, tool: t}", "one of tool", 3),
        (STEP + "{tool: 'a b'}", "'tool'", 3),
        (STEP + "{tool: t, args: [a]}", "'args'", 3),
        (STEP + "{tool: t, id: 'a b'}", "'id'", 3),
        (STEP + "{tool: t, id: a}\n  - {tool: t, id: a}", "taken", 4),
        (STEP + "{tool: t, timeout: 0}", "greater than 0", 3),
        (STEP + "{tool: t, timeout: soon}", "number", 3),
        (STEP + "{tool: t, retry: 0}", "attempts", 3),
        (STEP + "{tool: t, retry: {max_attempts: 2, backoff: wild}}", "'backoff'", 3),
        (STEP + "{tool: t, args: {x: '{{nothing}}'}}", "isn't an input", 3),
        (STEP + "{tool: t, args: {x: '{{inputs.absent}}'}}", "isn't an input", 3),
        (STEP + "{id: a, tool: t, args: {x: '{{a}}'}}", "isn't an input", 3),
        (STEP + "{foreach: 3, steps: [{tool: t}]}", "list, or a reference", 3),
        (STEP + "{foreach: [1], steps: []}", "at least one", 3),
        (STEP + "{foreach: [1], as: i, steps: [{tool: t}]}\n  - {approve: '{{i}}'}", "'{{i}}'", 4),
        (STEP + "{parallel: [{tool: s__write}]}", "affinity: any", 3),
        (STEP + "{parallel: [{approve: x}]}", "only tool calls", 3),
        (STEP + "{branch: always, then: [{tool: t}]}", "reference to decide", 3),
        (STEP + "{approve: ''}", "explains it", 3),
        ("name: w\nsteps:" + "\n  - {tool: t}" * 501, "500 steps", 503),
        ("", "empty", None),
        ("name: ]", "", 1),
    ],
)
def test_a_bad_workflow_is_a_failure_with_a_line_and_loses_only_itself(tmp_path, text, words, line):
    workflows, (failure,) = read(tmp_path, text, WHOLE)
    assert [workflow.name for workflow in workflows] == ["intake"]
    assert failure.reference == "w0.workflow.yaml"
    assert words in failure.message
    assert failure.line == line


def test_a_repeated_workflow_name_keeps_the_first(tmp_path):
    workflows, (failure,) = read(tmp_path, WHOLE, WHOLE)
    assert [workflow.path.name for workflow in workflows] == ["w0.workflow.yaml"]
    assert failure.reference == "w1.workflow.yaml"


def test_inputs_are_filled_in_and_checked(tmp_path):
    (workflow,), _ = read(tmp_path, WHOLE)
    assert workflow.input_values({"date": "x"}) == {"date": "x", "limit": 5}
    with pytest.raises(InvalidParams, match="needs the input 'date'"):
        workflow.input_values({})
    with pytest.raises(InvalidParams, match="no input 'dat'; it has: date, limit"):
        workflow.input_values({"dat": 1})


def test_references_become_values_or_text():
    scope = {"inputs": {"n": 2, "s": "x"}, "list": {"files": [{"p": "a"}, {"p": "b"}]}}
    value = {
        "a": "{{ list.files }}",
        "b": ["$.list.files.1.p"],
        "c": "n={{n}} {{inputs.s}}",
        "d": 1,
    }
    assert list(references(value)) == ["list.files", "list.files.1.p", "n", "inputs.s"]
    assert resolve(value, scope) == {
        "a": [{"p": "a"}, {"p": "b"}],
        "b": ["b"],
        "c": "n=2 x",
        "d": 1,
    }
    assert resolve("{{s}}", {"inputs": {"s": "{{n}}", "n": 1}}) == "{{n}}"


@pytest.mark.parametrize("path", ["list.absent", "list.files.9", "nothing", "list.files.p"])
def test_a_reference_that_leads_nowhere(path):
    with pytest.raises(InvalidParams, match="leads nowhere"):
        resolve(f"{{{{{path}}}}}", {"inputs": {}, "list": {"files": [1]}})


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [("fixed", [1, 1, 1, 1]), ("linear", [1, 2, 3, 4]), ("exponential", [1, 2, 4, 5])],
)
def test_delays_between_attempts(backoff, delays):
    retry = Retry(5, backoff, 1.0, 5.0)
    assert [retry.delay_before(attempt) for attempt in (2, 3, 4, 5)] == delays
