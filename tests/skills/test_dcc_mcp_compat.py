"""Scripts written for dcc-mcp run without its package."""

import importlib.util
import sys

import pytest

from callboard.errors import CallCancelled, SkillError
from callboard.skills.load import load_skill
from callboard.skills.scripts import SkillScripts
from skills.skill_tree import write_skill

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("dcc_mcp_core") is not None, reason="the real package is installed"
)


@pytest.fixture
def entry(tmp_path):
    opened = []

    def open_script(source):
        files = {"tools.yaml": "tools: [go]", "scripts/go.py": source}
        skill = load_skill(write_skill(tmp_path, f"s{len(opened)}", files=files))
        scripts = SkillScripts(skill)
        opened.append(scripts)
        return scripts.entry(skill.tools[0])

    yield open_script
    for scripts in opened:
        scripts.close()


SCRIPT = """\
from dcc_mcp_core.skill import run_main, skill_entry, skill_error, skill_exception, skill_success

def go(path, n=1):
    if not path:
        return skill_error("Missing path", "path_required", possible_solutions=["give one"])
    return skill_success("Found", prompt="Go on.", verified=True, path=path, n=int(n))

@skill_entry
def main(**kwargs):
    return go(**kwargs)

if __name__ == "__main__":
    run_main(main)
"""


def test_results_have_the_shape_that_such_skills_promise(entry):
    main = entry(SCRIPT).function
    assert main(path="x") == {
        "success": True,
        "message": "Found",
        "error": None,
        "prompt": "Go on.",
        "context": {"path": "x", "n": 1, "postcondition": {"verified": True}},
    }
    failed = main(path="")
    assert (failed["success"], failed["error"]) == (False, "path_required")
    assert failed["context"] == {"possible_solutions": ["give one"]}
    raised = main(path="x", n="many")
    assert (raised["success"], raised["error"]) == (False, "ValueError")
    assert raised["_meta"]["dcc.error"]["type"] == "ValueError"


@pytest.mark.parametrize(
    "head",
    [
        "import dcc_mcp_core\nfrom dcc_mcp_core import success_result as ok",
        "import dcc_mcp_core.skill\nok = dcc_mcp_core.skill.skill_success",
        "import dcc_mcp_core.skill as helpers\nok = helpers.skill_success",
        "from dcc_mcp_core import skill\nok = skill.skill_success",
    ],
)
def test_every_way_to_import_it(entry, head):
    loaded = entry(f"{head}\ndef main(): return ok('done')['success']\n")
    assert loaded.function() is True


def test_a_cancelled_call_stays_cancelled(entry):
    source = (
        "from dcc_mcp_core.skill import skill_entry\n@skill_entry\ndef main(stop): raise stop\n"
    )
    with pytest.raises(CallCancelled):
        entry(source).function(stop=CallCancelled("by the artist"))


def test_what_is_not_offered_says_so(entry):
    with pytest.raises(SkillError, match="dcc-mcp-core isn't installed"):
        entry("from dcc_mcp_core.host import BlockingDispatcher\n")


def test_nobody_else_can_import_it(entry):
    entry(SCRIPT)
    assert not [name for name in sys.modules if name.startswith("dcc_mcp_core")]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("dcc_mcp_core")
