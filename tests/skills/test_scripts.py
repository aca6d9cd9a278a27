import sys
from types import ModuleType

import pytest

from callboard.errors import SkillError
from callboard.skills.load import load_skill
from callboard.skills.scripts import SkillScripts
from callboard.skills.vendored import vendor_folder
from skills.skill_tree import write_files, write_skill


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a skill whose tools have the given scripts. All skills are
    closed afterwards."""
    spaces = []

    def open_skill(name="s", tools="tools: [go]", **files):
        folder = tmp_path / name
        written = {"tools.yaml": tools}
        written.update({f"scripts/{stem}.py": text for stem, text in files.items()})
        if folder.exists():
            write_files(folder, written)
        else:
            write_skill(tmp_path, name, files=written)
        skill = load_skill(folder)
        assert skill.failures == ()
        scripts = SkillScripts(skill)
        spaces.append(scripts)
        entries = {tool.name: tool for tool in skill.tools}
        return scripts, lambda tool="go": scripts.entry(entries[tool])

    yield open_skill
    for scripts in spaces:
        scripts.close()


def test_main_is_preferred_in_a_script_of_its_own(opened):
    _, entry = opened(go="def go(a): return 'go'\ndef main(**arguments): return arguments\n")
    loaded = entry()
    assert loaded.function(a=1) == {"a": 1}
    assert (loaded.kind, loaded.takes_ctx, loaded.takes_workspace_roots) == (
        "function",
        False,
        False,
    )


def test_a_shared_script_is_entered_by_the_tools_name(opened):
    tools = "tools:\n- {name: up-axis, source_file: scene.py}\n- {name: b, source_file: scene.py}\n"
    _, entry = opened(tools=tools, scene="def up_axis(): return 1\ndef b(): return 2\n")
    assert (entry("up-axis").function(), entry("b").function()) == (1, 2)


def test_an_entry_point_may_be_named(opened):
    tools = "tools:\n- {name: go, source_file: scripts/go.py, entry_point: other}\n"
    _, entry = opened(tools=tools, go="def main(): return 1\ndef other(): return 2\n")
    assert entry().function() == 2


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def main(ctx, _workspace_roots=None): pass", "function"),
        ("def main(ctx, _workspace_roots=None): yield", "generator"),
        ("async def main(ctx, _workspace_roots=None): pass", "coroutine"),
    ],
)
def test_the_kind_and_what_it_takes(opened, source, kind):
    loaded = opened(go=source)[1]()
    assert loaded.kind == kind
    assert loaded.takes_ctx
    assert loaded.takes_workspace_roots


def test_nothing_is_imported_before_the_first_call(opened, tmp_path):
    marker = tmp_path / "imported"
    source = f"with open({str(marker)!r}, 'a') as f: f.write('x')\ndef main(): pass\n"
    _, entry = opened(go=source)
    assert not marker.exists()
    entry()
    entry()
    assert marker.read_text() == "x"


def test_two_skills_may_have_neighbours_of_one_name(opened):
    main = "from _common import WHO\ndef main():\n    import _common\n    return WHO, _common.WHO\n"
    _, first = opened("one", go=main, _common="WHO = 1\n")
    _, second = opened("two", go=main, _common="WHO = 2\n")
    assert first().function() == (1, 1)
    assert second().function() == (2, 2)
    assert "_common" not in sys.modules


def test_relative_and_dotted_imports(opened):
    files = {
        "go": "from . import near\nfrom .lib.deep import VALUE\nimport lib.deep as d\n"
        "from lib import deep\ndef main(): return near.X, VALUE, d is deep\n",
        "near": "X = 1\n",
        "lib/__init__": "",
        "lib/deep": "from ..near import X\nVALUE = X + 1\n",
    }
    assert opened(**files)[1]().function() == (1, 2, True)


def test_tools_of_one_skill_share_their_neighbours(opened):
    tools = "tools: [put, get]"
    put = "import store\ndef main(x): store.kept.append(x)\n"
    get = "import store\ndef main(): return store.kept\n"
    _, entry = opened(tools=tools, put=put, get=get, store="kept = []\n")
    entry("put").function(x=3)
    assert entry("get").function() == [3]


def test_a_tool_named_as_a_standard_module_does_not_hide_it(opened):
    tools = "tools: [go, copy]"
    source = "import copy\ndef main(): return copy.deepcopy([1])\n"
    _, entry = opened(tools=tools, go=source, copy="def main(): pass\n")
    assert entry().function() == [1]


def test_closing_takes_every_module_out(opened):
    before = set(sys.modules)
    scripts, entry = opened(go="import near\ndef main(): pass\n", near="")
    entry()
    assert set(sys.modules) > before
    scripts.close()
    assert set(sys.modules) == before
    with pytest.raises(SkillError, match="unloaded"):
        entry()


def test_a_running_function_finishes_on_its_own_code_after_close(opened):
    go = "import state\ndef main():\n    yield\n    import state, late\n    yield state.N, late.N\n"
    scripts, entry = opened(go=go, state="N = 1\n", late="from state import N\n")
    running = entry().function()
    next(running)
    scripts.close()
    _, newer = opened(go="def main(): return 'new'\n", state="N = 2\n")
    assert newer().function() == "new"
    assert next(running) == (1, 1)
    assert not [name for name in sys.modules if name.endswith(".late")]


def test_a_reload_sees_an_edit_of_the_same_size_and_second(opened):
    scripts, entry = opened(go="def main(): return 1\n")
    assert entry().function() == 1
    scripts.close()
    _, again = opened(go="def main(): return 2\n")
    assert again().function() == 2


def test_the_search_path_is_left_as_it_was(opened):
    source = "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\nimport near\n"
    before = list(sys.path)
    opened(go=source + "def main(): pass\n", near="")[1]()
    assert sys.path == before


def test_the_search_path_does_not_grow_over_reloads(opened, tmp_path, monkeypatch):
    """A script adds one of the studio's folders at every load."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    source = f"import sys\nsys.path.insert(0, {str(tmp_path / 'studio')!r})\ndef main(): pass\n"
    lengths = []
    for _ in range(3):
        opened(go=source)[1]()
        lengths.append(len(sys.path))
    assert lengths[0] == lengths[2]
    assert sys.path.count(str(tmp_path / "studio")) == 1


def test_a_script_that_is_unloaded_while_it_is_imported_finds_its_packages(
    opened, tmp_path, monkeypatch
):
    before = list(sys.path)
    unloading = ModuleType("unloading_for_tests")
    monkeypatch.setitem(sys.modules, "unloading_for_tests", unloading)
    imports = "import unloading_for_tests\nunloading_for_tests.unload()\nimport brought_for_tests\n"
    scripts, entry = opened(go=imports + "def main(): return brought_for_tests.VERSION\n")
    write_files(vendor_folder(tmp_path / "s"), {"brought_for_tests.py": "VERSION = 2\n"})
    unloading.unload = scripts.close
    try:
        assert entry().function() == 2
    finally:
        sys.modules.pop("brought_for_tests", None)
    assert sys.path == before


def test_an_import_that_fails_names_the_file_that_imports(opened):
    near = "import json\nimport nothing_of_this_name\n"
    with pytest.raises(SkillError, match=r"scripts/near\.py, line 2: .*callboard vendor"):
        opened(go="import near\ndef main(): pass\n", near=near)[1]()


def test_an_import_that_fails_when_it_is_called_says_what_to_do(opened):
    _, entry = opened(go="def main():\n    import nothing_of_this_name.part\n")
    with pytest.raises(ModuleNotFoundError, match="'nothing_of_this_name', by its name for pip"):
        entry().function()


def test_dataclasses_with_postponed_annotations_work(opened):
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Point:\n    x: int\ndef main(): return Point(3).x\n"
    )
    assert opened(go=source)[1]().function() == 3


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ValueError('broken')", "ValueError: broken"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("def main(:", "SyntaxError"),
        ("x = 1", "defines neither main"),
        ("async def main():\n    yield", "async generator"),
    ],
)
def test_a_script_that_fails_is_a_skill_error_every_time(opened, source, words):
    before = set(sys.modules)
    scripts, entry = opened(go=source)
    for _ in range(2):
        with pytest.raises(SkillError) as caught:
            entry()
        assert words in caught.value.message
        assert "scripts/go.py" in caught.value.message
    scripts.close()
    assert not [name for name in set(sys.modules) - before if "callboard_skill" in name]


def test_a_keyboard_interrupt_passes(opened):
    with pytest.raises(KeyboardInterrupt):
        opened(go="raise KeyboardInterrupt")[1]()


def test_a_tool_without_a_script_says_what_to_add(opened):
    _, entry = opened()
    with pytest.raises(SkillError, match=r"add scripts/go\.py"):
        entry()
