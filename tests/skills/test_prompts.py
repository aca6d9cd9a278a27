"""Tests the statements about prompts that concern values. Each test is named after its
statement."""

import os

import pytest

from callboard.errors import InvalidParams
from callboard.skills.load import load_skill
from callboard.skills.prompts.files import read_prompts
from callboard.skills.prompts.prompt import make_prompt, render
from callboard.skills.prompts.prompt_set import collect
from callboard.skills.prompts.registry import PromptReader
from skills.skill_tree import write_files, write_skill

BEVEL = """\
prompts:
  - name: bevel_all_edges
    description: "Bevel every selected edge with a consistent chamfer width."
    arguments:
      - name: chamfer_width
        description: "Chamfer width in Maya units."
        required: true
      - name: segments
        description: "Number of chamfer segments (default 2)."
        required: false
    template: |
      Use `maya_geometry__select_edges` to capture the current selection,
      then call `maya_geometry__bevel_edges` with width={{chamfer_width}}
      and segments={{segments}}. Verify the result with
      `dcc_diagnostics__screenshot` before saving.
workflows:
  - file: workflows/bake_proxies.workflow.yaml
    prompt_name: bake_proxies_summary   # optional rename
"""

BAKE = """\
name: bake_proxies
description: Bake proxies for every asset.
inputs:
  frame: {type: integer, description: The frame to bake at.}
steps:
  - id: list
    tool: maya_scene__list_objects
  - id: each
    kind: foreach
    items: "$.list.objects"
    as: one
    steps:
      - id: bake
        tool: maya_geometry__bake
        args: {name: "{{one.name}}", frame: "{{inputs.frame}}"}
"""


def skill_with(tmp_path, block, files, name="maya-geometry"):
    return load_skill(write_skill(tmp_path, name, block=block, files=files))


def names(skill):
    prompts, _ = read_prompts(skill)
    return [prompt.served_name for prompt in prompts]


def text_of(prompt, **arguments):
    (message,) = render(prompt, arguments)["messages"]
    return message["content"]["text"]


@pytest.fixture
def seed(tmp_path):
    files = {"prompts.yaml": BEVEL, "workflows/bake_proxies.workflow.yaml": BAKE}
    return skill_with(tmp_path, "dcc: maya\nprompts: prompts.yaml # single file", files)


def manual(**spec):
    return make_prompt({"name": "p", "description": "d", **spec}, "s", "explicit")


# Sources


def test_one_file_with_prompts_and_workflows(seed):
    prompts, failures = read_prompts(seed)
    assert failures == []
    assert [(p.name, p.source) for p in prompts] == [
        ("bake_proxies_summary", "workflow"),
        ("bevel_all_edges", "explicit"),
    ]


@pytest.mark.parametrize("missing", ["prompts", "workflows"])
def test_both_lists_are_optional(tmp_path, missing):
    text = {
        "prompts": "workflows: [{file: w.workflow.yaml}]\n",
        "workflows": "prompts: [{name: p, description: d, template: t}]\n",
    }[missing]
    skill = skill_with(
        tmp_path, "prompts: prompts.yaml", {"prompts.yaml": text, "w.workflow.yaml": BAKE}
    )
    assert len(names(skill)) == 1


def test_the_globs_own_pattern_decides_and_files_are_sorted(tmp_path):
    one = "name: {0}\ndescription: d\ntemplate: t\n"
    files = {f"prompts/{n}.prompt.yaml": one.format(n) for n in ("b", "a", "c")}
    files["prompts/notaprompt.yaml"] = one.format("not")
    files["prompts/c2.prompt.yaml"] = one.format("c")
    skill = skill_with(tmp_path, "prompts: prompts/*.prompt.yaml", files)
    assert names(skill) == [f"maya-geometry.{n}" for n in "abc"]
    (failure,) = read_prompts(skill)[1]
    assert (failure.reference, failure.kind) == ("prompts/c2.prompt.yaml", "metadata")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{description: d, template: t}", "'name'"),
        ("{name: p, template: t}", "'description'"),
        ("{name: p, description: d}", "'template'"),
        ("{name: p, description: d, template: t, arguments: {a: b}}", "list"),
        ("{name: p, description: d, template: t, arguments: [{required: true}]}", "'name'"),
        ("{name: p, description: d, template: t, arguments: [{name: a, required: 3}]}", "true"),
        ("{name: p, description: d, template: t, arguments: [{name: a}, {name: a}]}", "twice"),
        ("{name: p, name: p, description: d, template: t}", "twice"),
        ("3", "mapping"),
    ],
)
def test_one_bad_entry_loses_only_itself(tmp_path, entry, words):
    text = f"prompts:\n  - {{name: good, description: d, template: t}}\n  - {entry}\n"
    skill = skill_with(tmp_path, "prompts: prompts.yaml", {"prompts.yaml": text})
    prompts, (failure,) = read_prompts(skill)
    assert [p.name for p in prompts] == ["good"]
    assert (failure.skill, failure.reference) == ("maya-geometry", "prompts.yaml")
    assert (failure.kind, failure.line) == ("parse", 3)
    assert words in failure.message


# Derived


def test_derived_only_where_the_skill_declares_no_prompts(tmp_path):
    files = {"EXAMPLES.md": "Do so.", "prompts.yaml": "prompts: []"}
    both = skill_with(tmp_path, "prompts: prompts.yaml\nexamples: EXAMPLES.md", files, "both")
    assert names(both) == []
    only = skill_with(tmp_path, "examples: EXAMPLES.md", files, "only")
    assert names(only) == ["only.examples"]


@pytest.mark.parametrize("word", ["examples", "recipes"])
def test_the_stem_suffix_where_the_reference_matches_more_than_one_file(tmp_path, word):
    files = {"docs/A b.md": "one", "docs/c-d_e.md": "two", "docs/ü.md": "three"}
    skill = skill_with(tmp_path, f"{word}: docs/*.md", files)
    assert names(skill) == [
        f"maya-geometry.{word}.A_b",
        f"maya-geometry.{word}._",
        f"maya-geometry.{word}.c-d_e",
    ]
    assert {p.source for p in read_prompts(skill)[0]} == {word}


def test_a_glob_that_matches_one_file_needs_no_suffix(tmp_path):
    skill = skill_with(tmp_path, "recipes: docs/*.md", {"docs/a.md": "one"})
    assert names(skill) == ["maya-geometry.recipes"]


def test_workflows_become_prompts_by_their_name(tmp_path):
    skill = skill_with(tmp_path, "workflows: w/*.workflow.yaml", {"w/x.workflow.yaml": BAKE})
    (prompt,) = read_prompts(skill)[0]
    assert (prompt.served_name, prompt.source) == (
        "maya-geometry.bake_proxies",
        "workflow_metadata",
    )
    text = text_of(prompt)
    assert "Bake proxies for every asset." in text
    assert "1. maya_scene__list_objects" in text
    assert "2. [foreach] each" in text
    assert "1. maya_geometry__bake" in text
    assert "frame (required): The frame to bake at." in text


def test_file_bodies_are_inserted_literally(tmp_path):
    body = "Use {{ name }} and {{ 1 + 1 }}."
    skill = skill_with(tmp_path, "examples: E.md", {"E.md": body})
    (prompt,) = read_prompts(skill)[0]
    assert text_of(prompt).endswith(body)


def test_file_bodies_are_cut_at_16384_characters_with_a_note(tmp_path):
    files = {"long.md": "x" * 16_385, "fits.md": "y" * 16_384}
    skill = skill_with(tmp_path, "examples: '*s.md'\nrecipes: long.md", files)
    fits, long = read_prompts(skill)[0]
    assert text_of(fits).count("y") >= 16_384
    assert "cut here" not in text_of(fits)
    assert "x" * 16_384 in text_of(long)
    assert "x" * 16_385 not in text_of(long)
    assert "cut here" in text_of(long)


# Names


def test_served_names_are_qualified_and_the_bare_name_works_while_unique(tmp_path):
    text = "prompts: [{name: bevel, description: d, template: '%s'}]"
    skills = [
        skill_with(tmp_path, "prompts: p.yaml", {"p.yaml": text % name}, name)
        for name in ("one", "two")
    ]
    alone = collect(skills[:1], PromptReader())
    assert alone.find("bevel") is alone.find("one.bevel")
    both = collect(skills, PromptReader())
    assert list(both.prompts) == ["one.bevel", "two.bevel"]
    assert [text_of(both.find(f"{n}.bevel")) for n in ("one", "two")] == ["one", "two"]
    with pytest.raises(InvalidParams, match=r"one\.bevel or two\.bevel"):
        both.find("bevel")
    with pytest.raises(InvalidParams, match="unknown prompt: nothing"):
        both.find("nothing")


def test_registered_prompts_are_served_by_their_own_name(seed):
    mine = make_prompt({"name": "m", "description": "d", "template": "t"}, "manual", "manual")
    collected = collect([seed], PromptReader(), [mine])
    assert list(collected.prompts) == sorted(collected.prompts)
    assert collected.find("m").list_entry()["_meta"] == {
        "dcc.prompt_source": {"skill": "manual", "source": "manual"}
    }


def test_list_entry(seed):
    entry = collect([seed], PromptReader()).find("bevel_all_edges").list_entry()
    assert entry == {
        "name": "maya-geometry.bevel_all_edges",
        "description": "Bevel every selected edge with a consistent chamfer width.",
        "arguments": [
            {
                "name": "chamfer_width",
                "description": "Chamfer width in Maya units.",
                "required": True,
            },
            {
                "name": "segments",
                "description": "Number of chamfer segments (default 2).",
                "required": False,
            },
        ],
        "_meta": {"dcc.prompt_source": {"skill": "maya-geometry", "source": "explicit"}},
    }


# Templates


def test_the_bevel_example_renders_with_and_without_segments(seed):
    prompt = collect([seed], PromptReader()).find("bevel_all_edges")
    assert "width=0.2\nand segments=3." in text_of(prompt, chamfer_width=0.2, segments="3")
    assert "and segments=. Verify" in text_of(prompt, chamfer_width="1")
    got = render(prompt, {"chamfer_width": "1", "extra": "ignored"})
    assert got["description"] == prompt.description
    assert [m["role"] for m in got["messages"]] == ["user"]


def test_a_missing_required_argument():
    prompt = manual(template="{{a}}", arguments=[{"name": "a", "required": True}])
    with pytest.raises(InvalidParams) as caught:
        render(prompt, {"b": "x"})
    assert (caught.value.code, caught.value.message) == (
        -32602,
        "missing required argument: a",
    )
    assert text_of(prompt, a="") == ""


def test_a_missing_optional_argument_is_its_default_else_empty():
    arguments = [{"name": "a", "default": 2}, {"name": "b"}]
    prompt = manual(template="[{{a}}{{b}}]", arguments=arguments)
    assert text_of(prompt) == "[2]"
    assert text_of(prompt, a="3") == "[3]"


def test_an_undeclared_placeholder_is_a_diagnostic(tmp_path):
    text = "prompts:\n- name: p\n  description: d\n  template: |\n    {{width}}\n"
    skill = skill_with(tmp_path, "prompts: p.yaml", {"p.yaml": text})
    (prompt,), (failure,) = read_prompts(skill)
    assert failure.line == 4
    assert "'width'" in failure.message
    assert text_of(prompt, width=3) == "3\n"
    with pytest.raises(InvalidParams, match="missing required argument: width"):
        render(prompt, {})


# Reading


def test_an_edit_is_seen_by_the_next_request(tmp_path):
    skill = skill_with(tmp_path, "prompts: p/*.prompt.yaml", {})
    reader = PromptReader()
    for number in range(50):
        one = f"name: same\ndescription: d{number % 10}\ntemplate: t\n"
        write_files(skill.path, {"p/a.prompt.yaml": one})
        (prompt,) = collect([skill], reader).prompts.values()
        assert prompt.description == f"d{number % 10}"
    write_files(skill.path, {"p/b.prompt.yaml": "name: more\ndescription: d\ntemplate: t\n"})
    assert len(collect([skill], reader).prompts) == 2
    (skill.path / "p/a.prompt.yaml").unlink()
    assert list(collect([skill], reader).prompts) == ["maya-geometry.more"]


def test_an_edited_workflow_and_one_that_appears_are_seen(tmp_path):
    skill = skill_with(tmp_path, "prompts: p.yaml", {"p.yaml": "workflows: [{file: w.yaml}]"})
    reader = PromptReader()
    assert collect([skill], reader).prompts == {}
    write_files(skill.path, {"w.yaml": BAKE})
    os.utime(skill.path / "p.yaml", (1, 1))
    os.utime(skill.path / "w.yaml", (1, 1))
    for word in ("Bake", "Cook"):
        write_files(skill.path, {"w.yaml": BAKE.replace("Bake", word)})
        (prompt,) = collect([skill], reader).prompts.values()
        assert word in prompt.description


def test_what_did_not_change_is_not_read_again(tmp_path):
    one = "prompts: [{name: p, description: d, template: t}]"
    skill = skill_with(tmp_path, "prompts: p.yaml", {"p.yaml": one})
    os.utime(skill.path / "p.yaml", (1, 1))
    reader = PromptReader()
    (first,) = reader.read(skill)[0]
    assert reader.read(skill)[0][0] is first
    reader.forget(skill.name)
    assert reader.read(skill)[0][0] is not first


# Diagnostics


def test_diagnostics_without_skills():
    collected = collect([], PromptReader())
    assert collected.needs_diagnostics()
    assert collected.diagnostics() == {
        "enabled": True,
        "loaded_skill_count": 0,
        "prompt_count": 0,
        "prompt_capable_skill_count": 0,
        "notes": ["No skills are loaded."],
    }


def test_diagnostics_of_skills_that_declare_nothing(tmp_path):
    collected = collect([skill_with(tmp_path, "dcc: maya", {})], PromptReader())
    assert collected.needs_diagnostics()
    assert collected.diagnostics() == {
        "enabled": True,
        "loaded_skill_count": 1,
        "prompt_count": 0,
        "prompt_capable_skill_count": 0,
        "notes": [
            "Loaded skills did not declare metadata.dcc-mcp.prompts, examples, recipes, "
            "or workflows."
        ],
    }


def test_diagnostics_when_something_failed(tmp_path, seed):
    bad = skill_with(tmp_path, "prompts: absent.yaml", {}, "bad")
    collected = collect([seed, bad], PromptReader())
    assert collected.needs_diagnostics()
    diagnostics = collected.diagnostics()
    assert (diagnostics["prompt_count"], diagnostics["prompt_capable_skill_count"]) == (2, 2)
    assert diagnostics["failures"] == [
        {
            "skill": "bad",
            "reference": "absent.yaml",
            "kind": "missing",
            "message": "'absent.yaml' doesn't exist",
        }
    ]
    assert not collect([seed], PromptReader()).needs_diagnostics()


@pytest.mark.parametrize(
    ("block", "files", "kind"),
    [
        ("prompts: absent.yaml", {}, "missing"),
        ("prompts: p/*.yaml", {}, "glob"),
        ("prompts: p.yaml", {"p.yaml": "# only a comment\n"}, "empty"),
        ("prompts: p.yaml", {"p.yaml": "[unclosed"}, "parse"),
        ("prompts: p.yaml", {"p.yaml": "unknown: keys"}, "parse"),
        ("prompts: p.yaml", {"p.yaml": "prompts: {a: b}"}, "parse"),
        ("prompts: ../p.yaml", {}, "read"),
        ("prompts: /etc/hosts", {}, "read"),
        ("prompts: ../*/p.yaml", {}, "read"),
        ("prompts: link.yaml", {}, "read"),
        ("examples: ../secret.md", {}, "read"),
        ("examples: link.md", {}, "read"),
        ("examples: '*.md*'", {"E.md2": ""}, "empty"),
        ("recipes: E.md", {"E.md": " \n"}, "empty"),
        ("workflows: ../w.workflow.yaml", {}, "read"),
        ("workflows: w.workflow.yaml", {"w.workflow.yaml": "name: w"}, "parse"),
        ("prompts: p.yaml", {"p.yaml": "workflows: [{file: ../w.yaml}]"}, "read"),
        ("prompts: p.yaml", {"p.yaml": "workflows: [{file: w.yaml}]"}, "missing"),
        ("prompts: p.yaml", {"p.yaml": "workflows: [{prompt_name: x}]"}, "parse"),
    ],
)
def test_failures_have_a_kind_and_no_absolute_path(tmp_path, block, files, kind):
    (tmp_path / "secret.md").write_text("secret")
    folder = write_skill(tmp_path, "s", block=block, files=files)
    (folder / "link.yaml").symlink_to(tmp_path / "secret.md")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    prompts, failures = read_prompts(load_skill(folder))
    assert all("secret" not in prompt.body for prompt in prompts)
    assert kind in {failure.kind for failure in failures}
    assert all(str(tmp_path) not in failure.message for failure in failures)


def test_a_link_that_leaves_hides_no_other_match(tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    folder = write_skill(tmp_path, "s", block="examples: e/*.md", files={"e/a.md": "mine"})
    (folder / "e" / "b.md").symlink_to(tmp_path / "secret.md")
    prompts, (failure,) = read_prompts(load_skill(folder))
    assert [text_of(p).splitlines()[-1] for p in prompts] == ["mine"]
    assert failure.kind == "read"


# Dynamic


@pytest.mark.parametrize(
    "spec",
    [
        {"name": ""},
        {"name": "  "},
        {"arguments": [{"name": ""}]},
        {"arguments": [{"name": "a"}, {"name": "a"}]},
    ],
)
def test_an_empty_name_or_a_repeated_argument_is_a_value_error(spec):
    with pytest.raises(ValueError, match=r"name|twice"):
        manual(template="t", **spec)
