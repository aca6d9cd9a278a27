import json
import os
import sys
import threading

import pytest

from callboard.errors import SkillError
from callboard.skills.catalog import CatalogChange, SkillCatalog, scoped_paths
from callboard.skills.discovery import BUNDLED
from callboard.skills.vendored import REQUIRED, vendor_folder
from callboard_testing.fake_host import DEADLINE
from serving import served
from skills.skill_tree import TWO_TOOLS, write_files, write_skill
from waiting import until

GO = {
    "tools.yaml": "tools: [{name: go, description: Goes.}]",
    "scripts/go.py": "def main(): pass\n",
}


def settle(folder):
    """Backdate every file, so that its stamp is trusted."""
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (1_000_000, 1_000_000))


@pytest.fixture
def catalog(tmp_path):
    made = SkillCatalog([(tmp_path / "skills", "user")])
    (tmp_path / "skills").mkdir()
    return made


@pytest.fixture
def add(tmp_path):
    def write(name, depends=(), **files):
        block = "tools: tools.yaml\ndepends: [{}]".format(", ".join(depends))
        folder = write_skill(tmp_path / "skills", name, block=block, files={**GO, **files})
        settle(folder)
        return folder

    return write


def names(skills):
    return [skill.name for skill in skills]


def test_discovered_is_not_loaded(catalog, add):
    add("a")
    catalog.refresh()
    assert [(k.skill.name, k.scope, k.loaded) for k in catalog.known] == [("a", "user", False)]
    assert catalog.loaded == []


def test_load_and_unload_tell_the_listeners(catalog, add):
    add("a")
    heard = []
    stop = catalog.watch(heard.append)
    catalog.refresh()
    assert heard == []
    (skill,) = catalog.load("a")
    assert catalog.load("a") == []
    catalog.unload("a")
    assert heard == [CatalogChange(loaded=(skill,)), CatalogChange(unloaded=("a",))]
    stop()
    catalog.load("a")
    assert len(heard) == 2


def test_a_listener_sees_the_new_state(catalog, add):
    add("a")
    catalog.refresh()
    seen = []
    catalog.watch(lambda change: seen.append(names(catalog.loaded)))
    catalog.load("a")
    catalog.unload("a")
    assert seen == [["a"], []]


def test_dependencies_are_loaded_first(catalog, add):
    add("a", ["c", "b"])
    add("b", ["d"])
    add("c", ["d"])
    add("d")
    catalog.refresh()
    assert names(catalog.load("a")) == ["d", "b", "c", "a"]


def test_a_cycle_is_named_and_nothing_is_loaded(catalog, add):
    add("x", ["a"])
    add("a", ["b"])
    add("b", ["c"])
    add("c", ["a"])
    catalog.refresh()
    with pytest.raises(SkillError, match="a -> b -> c -> a"):
        catalog.load("x")
    assert catalog.loaded == []
    assert {f.skill for f in catalog.failures} == {"a", "b", "c", "x"}


def test_a_missing_dependency_is_named(catalog, add):
    add("a", ["absent"])
    catalog.refresh()
    with pytest.raises(SkillError, match="skill 'a' depends on 'absent'"):
        catalog.load("a")


@pytest.mark.slow
def test_a_long_chain_of_dependencies(catalog, add):
    for number in range(1200):
        add(f"s{number:04}", [f"s{number - 1:04}"] if number else [])
    catalog.refresh()
    assert catalog.failures == ()
    assert len(catalog.load("s1199")) == 1200


def test_a_skill_that_others_need_is_not_unloaded(catalog, add):
    add("a", ["b"])
    add("b")
    catalog.refresh()
    catalog.load("a")
    with pytest.raises(SkillError, match="unload a first"):
        catalog.unload("b")
    catalog.unload("a")
    catalog.unload("b")
    with pytest.raises(SkillError, match="isn't loaded"):
        catalog.unload("b")


def test_an_unknown_skill_names_the_nearest(catalog, add):
    add("maya-geometry")
    catalog.refresh()
    with pytest.raises(SkillError, match="nearest: maya-geometry"):
        catalog.load("maya-geometri")
    assert names(catalog.load("maya_geometry")) == ["maya-geometry"]


def test_scopes(tmp_path, add):
    add("mine")
    write_skill(tmp_path / "project", "ours", files=GO, block="tools: tools.yaml")
    write_skill(tmp_path / "project", "mine", files=GO, block="tools: tools.yaml")
    paths = scoped_paths(None, [tmp_path / "skills"], tmp_path / "project")
    assert paths[0] == (tmp_path / "project", "project")
    assert paths[-1] == (BUNDLED, "bundled")
    catalog = SkillCatalog([path for path in paths if path[0] != BUNDLED])
    catalog.refresh()
    assert {k.skill.name: k.scope for k in catalog.known} == {"mine": "project", "ours": "project"}
    assert names(catalog.load_scope("project")) == ["mine", "ours"]


def test_a_scope_is_loaded_as_far_as_it_goes(catalog, add):
    add("good")
    add("bad", ["absent"])
    catalog.refresh()
    assert names(catalog.load_scope("user")) == ["good"]


class SlowIndex:
    """A package finder whose first search lasts until the test releases it."""

    def __init__(self):
        self.reached, self.release = threading.Event(), threading.Event()

    def find_spec(self, name, path=None, target=None):
        return None

    def find_distributions(self, context):
        if context.name == "absent-for-tests" and not self.reached.is_set():
            self.reached.set()
            assert self.release.wait(DEADLINE)
        return ()


def test_the_look_at_scripts_that_began_last_has_the_last_word(catalog, tmp_path, monkeypatch):
    block = "requires: [absent-for-tests]\ntools: tools.yaml"
    folder = write_skill(tmp_path / "skills", "a", block=block, files=GO)
    catalog.refresh()
    catalog.load("a")
    index = SlowIndex()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, index])
    slow = threading.Thread(target=catalog.check_scripts)
    slow.start()
    assert index.reached.wait(DEADLINE)
    write_files(vendor_folder(folder), {REQUIRED: "absent-for-tests\n"})
    catalog.check_scripts()
    index.release.set()
    slow.join(DEADLINE)
    assert not slow.is_alive()
    assert catalog.failures == ()


def test_search_follows_what_is_known(catalog, add):
    folder = add("geometry")
    catalog.refresh()
    assert [hit.name for hit in catalog.search("geometry", kind="skill")] == ["geometry"]
    (folder / "SKILL.md").unlink()
    catalog.refresh()
    assert catalog.search("geometry") == []


# Hot reload


def test_an_edited_tools_file_replaces_a_loaded_skill(catalog, add):
    folder = add("a")
    catalog.refresh()
    catalog.load("a")
    assert not catalog.refresh()
    write_files(folder, {"tools.yaml": TWO_TOOLS})
    change = catalog.refresh()
    assert change.unloaded == ("a",)
    assert [t.name for t in change.loaded[0].tools] == ["first", "second"]
    assert [t.name for t in catalog.loaded[0].tools] == ["first", "second"]


@pytest.mark.parametrize(
    "path", ["scripts/go.py", "scripts/_near.py", "prompts.yaml", "E.md", "settings.yaml"]
)
def test_any_edited_file_reloads_a_loaded_skill(catalog, add, path):
    folder = add("a")
    catalog.refresh()
    catalog.load("a")
    write_files(folder, {path: "# another\n"})
    assert names(catalog.refresh().loaded) == ["a"]
    settle(folder)
    catalog.refresh()
    assert not catalog.refresh()


def test_a_tool_reads_its_skills_settings_again_once_they_change(tmp_path):
    read = "import json, pathlib\n"
    read += "SETTINGS = json.loads(pathlib.Path(__file__).with_name('settings.json').read_text())\n"
    files = {"tools.yaml": "tools: [{name: go, description: d, affinity: any}]\n"}
    files["scripts/go.py"] = read + "def main():\n    return SETTINGS\n"
    files["scripts/settings.json"] = '{"quality": 1}'
    folder = write_skill(tmp_path, "studio", files=files)
    settle(folder)
    with served(skills=True, skill_paths=[str(tmp_path)]) as server, server.client() as client:
        assert client.call("studio__go")["structuredContent"] == {"quality": 1}
        write_files(folder, {"scripts/settings.json": '{"quality": 2}'})
        server.app.catalog.refresh()
        until(
            lambda: client.call("studio__go")["structuredContent"] == {"quality": 2},
            "the new settings",
        )


def test_a_saved_test_is_no_news_and_none_keeps_a_script_back(catalog, add):
    folder = add("a")
    catalog.refresh()
    catalog.load("a")
    write_files(folder, {"tests/test_more.py": "def test_it(:\n"})
    assert not catalog.refresh()
    write_files(folder, {"scripts/go.py": "def main(): return 1\n"})
    assert names(catalog.refresh().loaded) == ["a"]


def test_a_file_that_is_mended_is_told_as_loud_as_it_was_broken(catalog, add, caplog):
    folder = add("a")
    catalog.refresh()
    catalog.load("a")
    for text in ("def main(:\n", "\ndef main(:\n", "def main(): pass\n"):
        write_files(folder, {"scripts/go.py": text})
        catalog.refresh()
        catalog.check_scripts()
    broken, moved, mended = caplog.messages
    assert broken.startswith("a: scripts/go.py:1: ")
    assert moved.startswith("a: scripts/go.py:2: ")
    assert mended == "a: scripts/go.py: fixed"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("SKILL.md", ""),
        ("SKILL.md", "---\nname: a\ndescr"),
        ("SKILL.md", "---\nname: a\ndescription: [\n---\n"),
        ("tools.yaml", ""),
        ("tools.yaml", "tools:\n- name: go\n  input_schema: {type: obj"),
        ("scripts/go.py", "def main(:"),
        ("scripts/_near.py", "x = ("),
    ],
)
def test_a_half_written_file_never_replaces_a_working_skill(catalog, add, path, text):
    folder = add("a", **{"scripts/_near.py": ""})
    catalog.refresh()
    catalog.load("a")
    before = catalog.loaded
    whole = (folder / path).read_text()
    (folder / path).write_text(text)
    for _ in range(2):
        assert not catalog.refresh()
        assert catalog.loaded == before
        assert [k.skill for k in catalog.known] == before
        assert [(f.skill, f.reference) for f in catalog.failures] == [("a", path)]
    (folder / path).write_text(whole + "\n")
    assert names(catalog.refresh().loaded) == ["a"]
    assert catalog.failures == ()


def test_a_tool_that_became_bad_loses_only_itself(catalog, add):
    folder = add("a", **{"tools.yaml": TWO_TOOLS})
    catalog.refresh()
    catalog.load("a")
    text = TWO_TOOLS + "    required_capabilities: usd\n"
    write_files(folder, {"tools.yaml": text})
    (skill,) = catalog.refresh().loaded
    assert [t.name for t in skill.tools] == ["first"]


def test_a_skill_that_is_gone_is_unloaded(catalog, add):
    folder = add("a")
    catalog.refresh()
    catalog.load("a")
    folder.rename(folder.parent.parent / "elsewhere")
    assert catalog.refresh() == CatalogChange(unloaded=("a",))
    assert catalog.loaded == []
    assert catalog.known == []


# The discovery cache


def cached(tmp_path):
    catalog = SkillCatalog(
        [(tmp_path / "skills", "user")], cache_file=tmp_path / "c" / "cache.json"
    )
    catalog.refresh()
    return catalog


FULL = """\
tools:
- name: go
  description: Goes.
  required_capabilities: [usd]
  output_schema: {type: object}
  affinity: any
  execution: async
  timeout_hint_secs: 3
  title: Go
  annotations: {readOnlyHint: true}
  icons: [{src: x.png}]
  next-tools: {on-success: [a__b]}
  search_aliases: [walk]
  risk: low
"""


def test_the_cache_gives_back_what_was_read(tmp_path, add):
    folder = add("a", **{"tools.yaml": FULL})
    head = (folder / "SKILL.md").read_text()
    block = "    examples: [a.md, b.md]\n    tags: [x]\n    prompts: p.yaml\n---"
    (folder / "SKILL.md").write_text(head.replace("---\n#", block + "\n#"))
    settle(folder)
    first = cached(tmp_path)
    text = (tmp_path / "c" / "cache.json").read_text()
    assert list(json.loads(text)["skills"]) == [str(folder)]
    assert cached(tmp_path).known == first.known
    assert first.known[0].skill.examples == ("a.md", "b.md")


def test_the_cache_is_used_while_the_stamps_hold(tmp_path, add):
    folder = add("a")
    cached(tmp_path)
    file = tmp_path / "c" / "cache.json"
    file.write_text(file.read_text().replace("Goes.", "Went."))
    assert cached(tmp_path).known[0].skill.tools[0].description == "Went."
    write_files(folder, {"tools.yaml": GO["tools.yaml"]})
    assert cached(tmp_path).known[0].skill.tools[0].description == "Goes."


def test_the_cache_is_written_only_when_what_it_keeps_changes(tmp_path, add):
    folder = add("a")
    add("broken", **{"tools.yaml": "tools: 3"})
    settle(tmp_path / "skills")
    cached(tmp_path)
    file = tmp_path / "c" / "cache.json"
    os.utime(file, (0, 0))
    cached(tmp_path)
    assert file.stat().st_mtime == 0
    folder.rename(tmp_path / "elsewhere")
    cached(tmp_path)
    assert json.loads(file.read_text())["skills"] == {}


def test_a_script_that_appears_is_seen(tmp_path, add):
    folder = add("a", **{"tools.yaml": TWO_TOOLS})
    assert cached(tmp_path).known[0].skill.tools[0].script is None
    write_files(folder, {"scripts/first.py": ""})
    assert cached(tmp_path).known[0].skill.tools[0].script == folder / "scripts" / "first.py"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"format": 1}', '{"format": 1, "version": "0", "skills": 3}']
)
def test_a_damaged_cache_is_as_good_as_none(tmp_path, add, text):
    add("a")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "cache.json").write_text(text)
    assert names(k.skill for k in cached(tmp_path).known) == ["a"]


def test_a_damaged_entry_of_the_cache_is_as_good_as_none(tmp_path, add):
    add("a")
    cached(tmp_path)
    file = tmp_path / "c" / "cache.json"
    value = json.loads(file.read_text())
    for spoil in ({"tools": 3}, {"path": None}, {"unknown": 1}):
        spoiled = json.loads(json.dumps(value))
        for stamps_and_skill in spoiled["skills"].values():
            stamps_and_skill[1].update(spoil)
        file.write_text(json.dumps(spoiled))
        assert names(k.skill for k in cached(tmp_path).known) == ["a"]


def test_a_tool_that_its_entry_takes_away_is_told_with_what_is_wrong(catalog, add):
    long = "b" * 100
    tools = f"tools:\n- {{name: go, description: d}}\n- {{name: {long}, affinity: both}}\n"
    add("half", **{"tools.yaml": tools})
    catalog.refresh()
    why = catalog.why_absent(f"half__{long}")
    assert why.startswith("isn't served until this is fixed: half/tools.yaml:3: tool 'bbb")
    assert catalog.why_absent("half__other") is None
    (failure,) = catalog.failures
    assert failure.as_json()["tool"] == long
