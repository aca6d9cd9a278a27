"""A recorded run becomes a skill. Some of its values are linked, some become inputs, and some are
left out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from callboard.errors import SkillError
from callboard.ground import safe_yaml
from callboard.records.redaction import Redactor
from callboard.skills.discovery import BUNDLED
from callboard.skills.from_calls.skill_writer import make_skill
from callboard.skills.load import load_skill
from callboard.skills.new_folder import write_folder
from callboard_testing.lint.skill_lint import lint
from skills.skill_tree import write_skill

REDACT = Redactor(home="/home/anna", user="anna").text
SECRET = "sk-abcdefghijklmnop1234567890"
PUBLISH = """\
tools:
- name: publish
  description: Publishes.
  required_capabilities: [filesystem.write]
  input_schema:
    properties:
      path: {type: string, format: workspace-path}
      note: {type: string}
      count: {type: integer}
      options: {type: object}
- name: find
  description: Finds.
  annotations: {read_only_hint: true}
"""


def call(tool, result=None, /, *, intent=None, outcome="ok", undo_id=None, **arguments):
    return SimpleNamespace(
        **{"tool": tool, "arguments": arguments, "result": result, "intent": intent},
        **{"outcome": outcome, "undo_id": undo_id},
    )


def create(name=None, result=None, **arguments):
    named = {} if name is None else {"name": name}
    return call("scene__create_primitive", result, kind="cube", **named, **arguments)


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    files = {"tools.yaml": PUBLISH, "scripts/publish.py": "def main(**a): pass\n"}
    own = write_skill(tmp_path_factory.mktemp("skills"), "studio", files=files)
    return [
        load_skill(own),
        *(load_skill(BUNDLED / name) for name in ("scene", "materials", "structure")),
    ]


@pytest.fixture
def made(skills, tmp_path):
    def make(*calls):
        """Return the new skill, its workflow's steps by id, and its inputs."""
        new = make_skill("again", calls, skills, REDACT)
        folder = write_folder(tmp_path, "again", new.files)
        assert [one for one in lint(folder) if "'studio', which" not in one.message] == []
        value = safe_yaml.load(new.files["again.workflow.yaml"]).value
        return (
            new,
            {step["id"]: step.get("args", {}) for step in value["steps"]},
            value.get("inputs"),
        )

    return make


def test_paths_that_were_answered_are_looked_up_in_the_results(made):
    answer = {"changed": [], "created": ["/World/hero_2"], "object": {"name": "hero_2"}}
    _, steps, inputs = made(
        create("hero", answer), call("scene__transform", name="/World/hero_2", translate=[1, 0, 0])
    )
    assert steps["transform"]["name"] == "{{create_primitive.created.0}}"
    assert steps["create_primitive"]["name"] == "hero"
    assert inputs is None


def test_without_results_names_lead_to_what_was_made(made):
    _, steps, inputs = made(
        *(create("lamp"), create("lamp"), create("table")),
        call("scene__set_parent", name="lamp", parent="|table"),
        call("scene__transform", name="/World/table/lamp", translate=[0, 1, 0]),
        call("scene__transform", name="lamp_1", translate=[0, 1, 0]),
        call("scene__rename", name="table", new_name="desk"),
        call("scene__transform", name="lamp", translate=[0, 1, 0]),
        call("scene__transform", name="desk", translate=[0, 1, 0]),
    )
    lamp = "{{inputs.name}}"
    assert steps["create_primitive"]["name"] == steps["create_primitive_2"]["name"] == lamp
    assert steps["set_parent"] == {
        "name": "{{create_primitive.created.0}}",
        "parent": "{{create_primitive_3.created.0}}",
    }
    assert steps["transform"]["name"] == "{{set_parent.changed.0}}"
    assert steps["transform_2"]["name"] == "{{create_primitive_2.created.0}}"
    # Its path changed when the object above it was renamed, but its bare name didn't.
    assert steps["transform_3"]["name"] == lamp
    assert steps["transform_4"]["name"] == "{{rename.changed.0}}"
    assert [one["default"] for one in inputs.values()] == ["lamp", "table", "desk"]


def test_a_material_and_an_object_of_one_name_are_told_apart(made):
    _, steps, _ = made(
        create("brass"),
        call("materials__create", name="brass", color=[1, 0.5, 0]),
        call("materials__assign", name="brass", objects=["brass"]),
    )
    assert steps["assign"] == {
        "name": "{{create.created.0}}",
        "objects": ["{{create_primitive.created.0}}"],
    }


def test_a_group_is_named_by_the_tool_that_adds_to_it(made):
    _, steps, _ = made(
        create("lamp"),
        call("structure__create_group", name="set"),
        call("structure__add_to_group", name="set", objects=["lamp"]),
    )
    assert steps["add_to_group"] == {
        "name": "{{create_group.created.0}}",
        "objects": ["{{create_primitive.created.0}}"],
    }


def test_too_large_a_run_is_refused(skills):
    notes = [call("studio__publish", note=f"{number} {'x' * 30_000}") for number in range(40)]
    with pytest.raises(SkillError, match="larger than 1048576 bytes; use fewer calls"):
        make_skill("again", notes, skills, REDACT)


def test_numbers_that_recur_are_inputs(made):
    _, steps, inputs = made(
        create(size=2.5, translate=[0, 1, 0]),
        create(size=2.5, translate=[0, 1, 0], rotate=[45, 0, 0]),
        create(scale=[2.5, 2.5, 2.5], rotate=[45, 0, 0]),
    )
    assert {name: one["default"] for name, one in inputs.items()} == {
        "size": 2.5,
        "rotate": [45, 0, 0],
    }
    assert steps["create_primitive_3"]["scale"] == [2.5, 2.5, 2.5]
    assert steps["create_primitive"]["translate"] == [0, 1, 0]


def test_whole_numbers_stay_whole(made):
    options = {"path": "a.usda", "count": 3}
    _, _, inputs = made(call("studio__publish", **options), call("studio__publish", **options))
    assert inputs["count"] == {"type": "integer", "default": 3}


def test_what_wasnt_made_in_the_run_is_an_input(made):
    _, steps, inputs = made(call("scene__transform", name="/World/set/tree", translate=[0, 9, 0]))
    assert steps["transform"]["name"] == "{{inputs.name}}"
    assert inputs["name"]["default"] == "tree"


def test_batches_are_taken_apart(made):
    inner = {"name": {"$result": 0, "path": "object.path"}, "translate": [3, 0, 0]}
    calls = [
        {"tool": "scene__create_primitive", "arguments": {"kind": "cube"}},
        {"tool": "scene__transform", "arguments": inner},
    ]
    _, steps, _ = made(call("batch__run", calls=calls))
    assert steps["transform"]["name"] == "{{create_primitive.object.path}}"


def test_what_uses_a_result_that_is_left_out_is_left_out_too(made):
    inner = {"name": {"$result": 1, "path": "object.path"}, "translate": [3, 0, 0]}
    calls = [
        {"tool": "scene__create_primitive", "arguments": {"kind": "cube"}},
        {"tool": "elsewhere__make", "arguments": {}},
        {"tool": "scene__transform", "arguments": inner},
    ]
    new, steps, _ = made(call("batch__run", intent="\u200b", calls=calls))
    assert list(steps) == ["create_primitive"]
    assert any("scene__transform: it uses the result" in one for one in new.left_out)
    assert new.draft.requests == []


def test_reading_that_nobody_used_failures_and_strangers_are_left_out(made):
    new, steps, _ = made(
        call("scene__scene_info", {"file": None}),
        call("scene__list_objects", {"objects": [{"name": "a", "path": "/a b"}]}),
        create("a", outcome="error"),
        call("jobs__status", job_id="1"),
        call("scene__transform", name="/a b", translate=[2, 0, 0]),
    )
    assert [*steps] == ["list_objects", "transform"]
    assert steps["transform"]["name"] == "{{list_objects.objects.0.path}}"
    assert list(new.left_out) == [
        "jobs__status: it is callboard's own tool and can't be a step of a workflow",
        "scene__scene_info: it only reads, and no later call uses its result",
    ]


def test_undone_calls_are_left_out(made):
    """An undo's result names the ids of the undone calls. If no result was kept, the newest changes
    are considered undone."""
    new, steps, _ = made(
        create("a", undo_id="1"),
        create("b", undo_id="2"),
        call("scene__undo", {"undone": [{"undo_id": "1"}], "stopped": None}),
        call("scene__redo", {"redone": [{"undo_id": "1"}], "stopped": None}),
        create("c", undo_id="3"),
        call("scene__list_objects", {"objects": []}),
        create("d", undo_id="4"),
        call("scene__undo", steps=3),
        call("scene__redo"),
        call("scene__undo", outcome="error"),
    )
    assert [step["name"] for step in steps.values()] == ["a", "b"]
    assert "scene__create_primitive: it was undone" in new.left_out
    assert not any("scene__undo" in one for one in new.left_out)


HIDDEN = (
    *("/home/anna/shot.usd", "~/shot.usd", "C:\\Users\\anna\\shot.usd", "\\\\nas\\job\\shot.usd"),
    *("file:///job/shot.usd", "/job/show/shot.usd", "a /job/show/shot.usd", SECRET),
    *(
        "anna@studio.example",
        f'd["api_key"] = "{SECRET}"',
        "see D:/job/shot.usd",
        "//nas/job/a.usd",
    ),
    *("../../shot.usd\n/job/x", "open('/job/show/shot.usd')"),
)


@pytest.mark.parametrize("where", ["path", "note", "options", "intent"])
def test_no_secret_and_no_absolute_path_gets_in(skills, where):
    for value in HIDDEN:
        arguments = {"options": {"deep": [value]}} if where == "options" else {where: value}
        intent = f"Publish it to {value}, please" if where == "intent" else None
        arguments = {"note": "short"} if intent else arguments
        run = [call("studio__publish", intent=intent, **arguments), create("hero", intent=intent)]
        text = "\n".join(make_skill("again", run, skills, REDACT).files.values())
        for part in (SECRET, "anna", "nas", "/job", "job\\", "job/", "C:", "D:/"):
            assert part not in text


def test_a_key_that_may_not_be_written_refuses_the_skill(skills):
    for value in HIDDEN:
        with pytest.raises(SkillError, match="would hold a secret or an absolute path") as refused:
            make_skill("again", [call("studio__publish", options={value: 1})], skills, REDACT)
        assert value[:20] not in refused.value.message


def test_values_that_stay_out_are_asked_for(made):
    new, steps, inputs = made(
        call("studio__publish", path="/job/show/shot.usd", note=f"key {SECRET}"),
        call("studio__publish", path="cache/shot.abc", note="{{not.ours}}"),
    )
    assert "default" not in inputs["path"]
    assert "default" not in inputs["note"]
    assert inputs["path_2"]["default"] == "cache/shot.abc"
    assert inputs["note_2"]["default"] == "{{not.ours}}"
    assert [*steps["publish"].values()] == ["{{inputs.path}}", "{{inputs.note}}"]
    test = new.files["tests/test_again.py"]
    assert "'path': ['shot.usd', False]" in test
    assert '"note": ...' in test


def test_capabilities_wishes_and_results_are_told(made):
    answer = {"created": ["/hero"], "verified": True, "object": {"translate": [1, 2, 3]}}
    new, _, _ = made(
        create("hero", answer, intent="A {{hero}}\x1b for\n/job/show/shot.usd"),
        call("studio__publish", note="x"),
    )
    assert "Needs filesystem.write, scene.mutate, scene.read." in new.files["SKILL.md"]
    assert "- A hero for shot.usd\n" in new.files["prompts.yaml"]
    expected = "{'created': 1, 'verified': True, 'translate': [1, 2, 3]}"
    assert f"'create_primitive': {expected}" in new.files["tests/test_again.py"]
    compile(new.files["tests/test_again.py"], "test_again.py", "exec")


def test_nothing_to_make_a_skill_of(skills):
    with pytest.raises(SkillError, match="no skill can be made from these calls: jobs__status"):
        make_skill("again", [call("jobs__status")], skills, REDACT)
    with pytest.raises(SkillError, match="none of them succeeded"):
        make_skill("again", [create("a", outcome="error")], skills, REDACT)
