"""Skills inside the Python package with which they were published."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.errors import SkillError
from callboard.skills.load import load_skill
from callboard.skills.scripts import SkillScripts
from callboard_testing.lint.skill_lint import lint
from serving import served, text_of
from skills.skill_tree import write_skill
from waiting import until

PACKAGE = "dcc_mcp_for_tests"
USES_IT = f"""
from {PACKAGE}._ops import greet

def main(name):
    return {{"said": greet(name)}}
"""
LATE = "def main():\n    import nowhere_at_all\n"
CANCELS = """
from dcc_mcp_core.cancellation import check_cancelled
from pathlib import Path
import time

def main(began):
    Path(began).write_text("yes")
    try:
        while True:
            check_cancelled()
            time.sleep(0.001)
    except Exception as error:
        Path(began + ".end").write_text(type(error).__name__)
        raise
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """Return a package with a folder of skills, as pip installs it. The package hasn't been
    imported yet."""
    folder = tmp_path / "site" / PACKAGE
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "_ops.py").write_text("def greet(name):\n    return f'hello {name}'\n")
    yield folder
    sys.path[:] = [path for path in sys.path if path != str(tmp_path / "site")]
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def imports_missed(folder: Path) -> list[str]:
    return [str(finding) for finding in lint(folder) if "imports" in finding.message]


def test_its_scripts_import_the_package_they_came_with(package: Path) -> None:
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": USES_IT}
    skill = load_skill(write_skill(package / "skills", "greeter", files=files))
    scripts = SkillScripts(skill)
    assert scripts.entry(skill.tools[0]).function(name="you") == {"said": "hello you"}
    scripts.close()
    assert sys.path[-1] == str(package.parent)
    assert imports_missed(package / "skills" / "greeter") == []


def test_a_package_that_is_not_there_is_named_with_what_to_install(tmp_path: Path) -> None:
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": USES_IT}
    skill = load_skill(write_skill(tmp_path, "greeter", files=files))
    with pytest.raises(SkillError, match="pip install dcc-mcp-for-tests"):
        SkillScripts(skill).entry(skill.tools[0])


def test_lint_finds_imports_that_lead_nowhere(tmp_path: Path) -> None:
    source = (
        "import bpy\nimport json\nimport _beside\nimport dcc_mcp_core.skill\n"
        "from dcc_mcp_other.things import x\n"
        "try:\n    import optional_thing\nexcept ImportError:\n    optional_thing = None\n"
        f"{LATE}"
    )
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": source, "scripts/_beside.py": ""}
    write_skill(tmp_path, "greeter", files=files)
    told = imports_missed(tmp_path / "greeter")
    assert {line.partition(": ")[0] for line in told} == {"scripts/go.py:5", "scripts/go.py:11"}
    assert any("pip install dcc-mcp-other" in line for line in told)
    assert any("'nowhere_at_all'" in line for line in told)


def test_lint_follows_every_form_of_import_to_the_scripts_beside(tmp_path: Path) -> None:
    files = {
        "tools.yaml": "tools: [go]",
        "scripts/go.py": "import _one\nfrom _two import name\nfrom ._three import name\n",
        **{f"scripts/_{each}.py": "import nowhere_at_all\n" for each in ("one", "two", "three")},
    }
    write_skill(tmp_path, "greeter", files=files)
    told = imports_missed(tmp_path / "greeter")
    where = {f"scripts/_{each}.py:1" for each in ("one", "two", "three")}
    assert {line.partition(": ")[0] for line in told} == where


def test_cancelling_reaches_a_script_that_asks_as_dcc_mcps_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    tools = "tools:\n  - {name: go, affinity: any, input_schema: {type: object}}\n"
    files = {"tools.yaml": tools, "scripts/go.py": CANCELS}
    write_skill(tmp_path / "skills", "endless", files=files)
    began = tmp_path / "began"
    ended = tmp_path / "began.end"
    config = {"skills": True, "skill_paths": [tmp_path / "skills"]}
    with served(**config) as running, running.client() as client:
        arguments = {"began": str(began)}
        client.start("tools/call", {"name": "endless__go", "arguments": arguments}, id=7)
        until(began.is_file, "the script")
        client.notify("notifications/cancelled", {"requestId": 7})
        until(lambda: ended.is_file() and ended.read_text(), "the script's end")
        assert ended.read_text() == "CallCancelled"


def test_a_tool_whose_skill_is_not_loaded_says_how_to_load_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": "def main():\n    return 'went'\n"}
    write_skill(tmp_path / "skills", "greeter", files=files)
    config = {"skills": True, "skill_paths": [tmp_path / "skills"]}
    with served(**config) as running, running.client() as client:
        client.call("skills__unload", {"name": "greeter"})
        refused = client.request("tools/call", {"name": "greeter__go", "arguments": {}})
        assert "skills__load with name 'greeter'" in refused["error"]["message"]
        client.call("skills__load", {"name": "greeter"})
        assert "went" in text_of(client.call("greeter__go"))
