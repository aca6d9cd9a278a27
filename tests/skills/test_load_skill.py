import os

import pytest

from callboard.skills.load import load_skill
from callboard.skills.model import is_usable
from callboard.skills.resource_files import read_resources
from callboard_testing.lint.skill_lint import lint
from skills.skill_tree import TWO_TOOLS, write_skill

SEED_TOOLS = """\
tools:
  - name: import_usd
    description: Import a USD stage into the scene
    required_capabilities: [usd, scene.mutate, filesystem.read]

  - name: read_stage_metadata
    description: Read metadata from a USD stage without mutating the scene
    required_capabilities: [usd, scene.read, filesystem.read]

  - name: ping
    description: No capabilities required
"""


def tools_of(folder):
    return {tool.name: tool for tool in load_skill(folder).tools}


def only_failure(folder):
    (failure,) = load_skill(folder).failures
    return failure


def test_capabilities_are_kept_in_order_and_united_over_the_skill(tmp_path):
    skill = load_skill(write_skill(tmp_path, "usd", files={"tools.yaml": SEED_TOOLS}))
    assert skill.failures == ()
    assert [t.required_capabilities for t in skill.tools] == [
        ("usd", "scene.mutate", "filesystem.read"),
        ("usd", "scene.read", "filesystem.read"),
        (),
    ]
    assert skill.required_capabilities == [
        "filesystem.read",
        "scene.mutate",
        "scene.read",
        "usd",
    ]


def test_every_field_of_the_skill_is_read(tmp_path):
    block = """
        dcc: maya
        version: 1.0
        layer: domain
        tags: [a, b]
        search-hint: a hint
        search-aliases: [x]
        depends: [base]
        prompts: prompts.yaml
        examples: [EXAMPLES.md, more/*.md]
        recipes: RECIPES.md
        workflows: workflows/*.workflow.yaml
        stage: authoring
    """
    skill = load_skill(write_skill(tmp_path, "maya-geometry", block=block))
    assert skill.failures == ()
    assert (skill.name, skill.description) == ("maya-geometry", "The maya-geometry skill.")
    assert (skill.dcc, skill.version, skill.layer) == ("maya", "1.0", "domain")
    assert (skill.tags, skill.depends) == (("a", "b"), ("base",))
    assert (skill.search_hint, skill.search_aliases) == ("a hint", ("x",))
    assert (skill.prompts, skill.recipes) == ("prompts.yaml", "RECIPES.md")
    assert skill.examples == ("EXAMPLES.md", "more/*.md")
    assert skill.workflows == "workflows/*.workflow.yaml"
    assert skill.metadata["dcc-mcp"]["stage"] == "authoring"
    assert skill.wire_name("bevel") == "maya_geometry__bevel"


def test_flat_metadata_keys_are_read_too(tmp_path):
    folder = write_skill(tmp_path, "flat", files={"tools.yaml": TWO_TOOLS})
    head = "---\nname: flat\ndescription: d\nmetadata:\n  dcc-mcp.tools: tools.yaml\n---\n"
    (folder / "SKILL.md").write_text(head)
    assert list(tools_of(folder)) == ["first", "second"]


@pytest.mark.parametrize(
    "keys",
    [
        ("input_schema", "output_schema", "timeout_hint_secs", "search_aliases", "next-tools"),
        ("inputSchema", "outputSchema", "timeoutHintSecs", "searchAliases", "nextTools"),
    ],
)
def test_tool_keys_in_snake_and_camel_case(tmp_path, keys):
    schema_in, schema_out, timeout, aliases, following = keys
    text = f"""\
tools:
  - name: bevel
    title: Bevel
    description: Bevels.
    {schema_in}: {{properties: {{width: {{type: number}}}}, required: [width]}}
    {schema_out}: {{type: object}}
    affinity: any
    execution: async
    {timeout}: 2.5
    {aliases}: [chamfer]
    {following}: {{on-success: [a__b], on-failure: [c__d]}}
    icons: [{{src: bevel.png}}]
    risk: low
"""
    bevel = tools_of(write_skill(tmp_path, "s", files={"tools.yaml": text}))["bevel"]
    assert bevel.input_schema == {
        "type": "object",
        "properties": {"width": {"type": "number"}},
        "required": ["width"],
    }
    assert bevel.output_schema == {"type": "object"}
    assert (bevel.affinity, bevel.execution, bevel.timeout_hint_secs) == ("any", "async", 2.5)
    assert (bevel.title, bevel.search_aliases) == ("Bevel", ("chamfer",))
    assert bevel.next_tools == {"on-success": ("a__b",), "on-failure": ("c__d",)}
    assert bevel.icons == ({"src": "bevel.png"},)
    assert bevel.extra == {"risk": "low"}


@pytest.mark.parametrize(
    "written",
    [
        "annotations: {read_only_hint: true, destructive_hint: false}",
        "annotations: {readOnlyHint: true, destructiveHint: false}",
        "read_only: true\n    destructive: false",
    ],
)
def test_annotations_in_every_spelling(tmp_path, written):
    text = f"tools:\n  - name: t\n    {written}\n"
    tool = tools_of(write_skill(tmp_path, "s", files={"tools.yaml": text}))["t"]
    assert tool.annotations == {"readOnlyHint": True, "destructiveHint": False}


def test_defaults_of_a_bare_name(tmp_path):
    tool = tools_of(write_skill(tmp_path, "s", files={"tools.yaml": "tools: [ping]"}))["ping"]
    assert (tool.affinity, tool.execution, tool.timeout_hint_secs) == ("main", "sync", None)
    assert tool.input_schema == {"type": "object"}
    assert tool.script is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("required_capabilities: usd", "list of strings"),
        ("required_capabilities: [usd, 3]", "non-empty strings"),
        ("affinity: worker", "main or any"),
        ("execution: later", "sync or async"),
        ("timeout_hint_secs: -1", "seconds"),
        ("timeout_hint_secs: soon", "seconds"),
        ("input_schema: [a]", "mapping"),
        ("input_schema: {type: array}", "type: object"),
        ("input_schema: {$ref: 'file:///etc/passwd'}", "$ref"),
        ("output_schema: {properties: {a: {$ref: 'http://x'}}}", "$ref"),
        ("annotations: {readOnlyHint: sure}", "true or false"),
        ("source_file: ../other/scripts/x.py", "leads out"),
        ("source_file: /etc/x.py", "absolute"),
        ("source_file: 'C:\\x.py'", "absolute"),
        ("source_file: scripts/absent.py", "doesn't exist"),
        ("source_file: tools.yaml", "Python"),
        ("description: [a]", "text"),
        ("name: other", "written twice"),
    ],
)
def test_a_bad_tool_loses_only_itself(tmp_path, line, words):
    text = f"tools:\n  - name: bad\n    {line}\n  - name: good\n    description: d\n"
    folder = write_skill(tmp_path, "s", files={"tools.yaml": text})
    assert list(tools_of(folder)) == ["good"]
    failure = only_failure(folder)
    assert (failure.skill, failure.reference, failure.line) == ("s", "tools.yaml", 3)
    assert failure.message.startswith("tool 'bad': ")
    assert words in failure.message
    assert str(tmp_path) not in failure.message


@pytest.mark.parametrize("entry", ["3", "[a]", "{description: d}", "{name: 'a b'}", "{name: ''}"])
def test_an_entry_without_a_usable_name_loses_only_itself(tmp_path, entry):
    text = f"tools:\n  - {entry}\n  - name: good\n"
    folder = write_skill(tmp_path, "s", files={"tools.yaml": text})
    assert list(tools_of(folder)) == ["good"]
    assert only_failure(folder).line == 2


def test_a_repeated_tool_name_keeps_the_first(tmp_path):
    text = "tools:\n- {name: a, description: one}\n- {name: a, description: two}\n"
    folder = write_skill(tmp_path, "s", files={"tools.yaml": text})
    assert tools_of(folder)["a"].description == "one"
    assert "taken" in only_failure(folder).message


@pytest.mark.parametrize("place", ["scripts/first.py", "first.py"])
def test_the_script_of_the_same_stem_is_found(tmp_path, place):
    folder = write_skill(tmp_path, "s", files={"tools.yaml": TWO_TOOLS, place: ""})
    tools = tools_of(folder)
    assert tools["first"].script == folder.resolve() / place
    assert tools["second"].script is None


def test_source_file_is_found_beside_or_below_scripts(tmp_path):
    text = "tools:\n- {name: a, source_file: scripts/x.py}\n- {name: b, source_file: x.py}\n"
    folder = write_skill(tmp_path, "s", files={"tools.yaml": text, "scripts/x.py": ""})
    assert {t.script for t in load_skill(folder).tools} == {folder.resolve() / "scripts/x.py"}


def test_a_script_behind_a_symlink_that_leaves_is_refused(tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("")
    folder = write_skill(tmp_path, "s", files={"tools.yaml": TWO_TOOLS, "scripts/x.py": ""})
    (folder / "scripts" / "first.py").symlink_to(outside)
    assert list(tools_of(folder)) == ["second"]
    assert "leads out" in only_failure(folder).message


@pytest.mark.parametrize(
    ("tools", "kind", "words"),
    [
        ("tools: [", "parse", ""),
        ("tools: 3", "parse", "list"),
        ("other: 3", "empty", "no tools"),
        (None, "missing", "doesn't exist"),
    ],
)
def test_an_unusable_tools_file_leaves_the_skill(tmp_path, tools, kind, words):
    files = {} if tools is None else {"tools.yaml": tools}
    folder = write_skill(tmp_path, "s", files=files)
    skill = load_skill(folder)
    assert is_usable(skill)
    assert skill.tools == ()
    (failure,) = skill.failures
    assert (failure.kind, failure.reference) == (kind, "tools.yaml")
    assert words in failure.message


@pytest.mark.parametrize("reference", ["../tools.yaml", "/etc/hosts", "~/tools.yaml", "a/../../b"])
def test_a_tools_reference_that_leaves_the_folder_is_refused(tmp_path, reference):
    folder = write_skill(tmp_path, "s", block=f"tools: '{reference}'")
    failure = only_failure(folder)
    assert (failure.kind, failure.reference) == ("read", reference)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"no frontmatter", "parse"),
        (b"---\nname: s\n", "parse"),
        (b"---\n- a\n---\n", "parse"),
        (b"---\nname: [\n---\n", "parse"),
        (b"---\nname: s\n---\n", "metadata"),
        (b"---\nname: '../x'\ndescription: d\n---\n", "metadata"),
        (b"---\ndescription: d\n---\n", "metadata"),
        (b"---\nname: s\ndescription: \xff\n---\n", "read"),
    ],
)
def test_an_unusable_skill_file_is_one_failure(tmp_path, text, kind):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "SKILL.md").write_bytes(text)
    skill = load_skill(tmp_path / "s")
    assert not is_usable(skill)
    assert [f.kind for f in skill.failures] == [kind]


def test_a_bad_field_of_the_skill_loses_only_that_field(tmp_path):
    folder = write_skill(tmp_path, "s", block="tags: {a: b}\ntools: tools.yaml\ndepends: [1]")
    (folder / "tools.yaml").write_text(TWO_TOOLS)
    skill = load_skill(folder)
    assert len(skill.tools) == 2
    assert [(f.reference, f.line) for f in skill.failures] == [("SKILL.md", 6), ("SKILL.md", 8)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_is_refused_and_not_waited_for(tmp_path):
    folder = write_skill(tmp_path, "s")
    os.mkfifo(folder / "tools.yaml")
    assert "regular file" in only_failure(folder).message


def test_windows_line_ends_and_a_byte_order_mark(tmp_path):
    folder = write_skill(tmp_path, "s", files={"tools.yaml": TWO_TOOLS})
    text = (folder / "SKILL.md").read_text().replace("\n", "\r\n")
    (folder / "SKILL.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert list(tools_of(folder)) == ["first", "second"]


def test_lists_and_underscores_of_other_packages_are_read(tmp_path):
    block = """requires: [other_skill, scene, Pillow>=10]
resources: [first.yaml, second.yaml]
search_aliases: [sphere]
search_hint: round things"""
    uri = "resources:\n  - {name: NAME, description: Says it, uri: 'mine://NAME', file: a.md}\n"
    files = {f"{one}.yaml": uri.replace("NAME", one) for one in ("first", "second")}
    write_skill(tmp_path, "other-skill")
    folder = write_skill(tmp_path, "mine", block=block, files={**files, "a.md": "text"})
    skill = load_skill(folder)
    assert skill.failures == ()
    # The first two requirements are skills, not packages. One is in the same folder as
    # this one, and the other ships.
    assert skill.requires == ("Pillow>=10",)
    assert (skill.search_aliases, skill.search_hint) == (("sphere",), "round things")
    resources, failures = read_resources(skill)
    assert failures == []
    assert [one.name for one in resources] == ["first", "second"]
    assert [one for one in lint(folder) if "Pillow" not in one.message] == []
