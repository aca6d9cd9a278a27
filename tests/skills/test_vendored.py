"""Packages that a skill requires are installed into its folder, found by its scripts, and reported
if they are missing."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.skills.vendored import is_requirement, satisfies, vendor_folder
from callboard_programs.cli import main
from callboard_testing.lint.skill_lint import lint
from needed import need
from serving import served, text_of
from skills.skill_tree import write_skill
from skills.wheels import make_wheel
from waiting import until

BLOCK = "requires: [shotlib-for-tests>=1]\ntools: tools.yaml"
FILES = {
    "tools.yaml": "tools: [{name: go, description: Goes.}]",
    "scripts/go.py": "import shotlib_for_tests\n\n\ndef main():\n"
    "    return {'version': shotlib_for_tests.VERSION}\n",
}


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a skill that requires a package that only a folder of wheels has."""
    need("pip")
    make_wheel(tmp_path / "wheels", "shotlib-for-tests", "1.0", "VERSION = '1.0'\n")
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    before = list(sys.path)
    yield write_skill(tmp_path / "skills", "shots", block=BLOCK, files=FILES)
    assert sys.path == before
    sys.modules.pop("shotlib_for_tests", None)


@pytest.mark.slow
def test_packages_are_brought_found_and_leave_no_trace(
    skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = f"py{sys.version_info[0]}{sys.version_info[1]}-{sys.platform}"
    with served(skills=True, skill_paths=[skill.parent]) as server, server.client() as client:
        catalog = server.app.catalog
        until(lambda: any("requires shot" in one.message for one in catalog.failures), "a finding")
        text = text_of(client.call("shots__go"))
        assert "scripts/go.py, line 1: ModuleNotFoundError" in text
        assert "callboard vendor" in text
        assert main(["vendor", str(skill)]) == 0
        assert capsys.readouterr().out == f"vendor/{here}: shotlib-for-tests 1.0\n"
        assert client.call("shots__go")["structuredContent"] == {"version": "1.0"}
        catalog.check_scripts()
        assert catalog.failures == ()
        for edit in range(3):
            (skill / "scripts" / "go.py").write_text(FILES["scripts/go.py"] + "\n" * edit)
            catalog.refresh()
            assert client.call("shots__go")["structuredContent"] == {"version": "1.0"}
        assert sys.path.count(str(vendor_folder(skill))) <= 1
    assert [str(finding) for finding in lint(skill)] == []


@pytest.mark.slow
def test_what_can_not_be_had_leaves_what_was_brought(
    skill: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vendor", str(skill)]) == 0
    text = (skill / "SKILL.md").read_text().replace(">=1", ">=2")
    (skill / "SKILL.md").write_text(text)
    assert main(["vendor", str(skill)]) == 1
    told = capsys.readouterr().err
    assert "can't be installed" in told
    assert "shotlib-for-tests" in told
    with served(skills=True, skill_paths=[skill.parent]) as server, server.client() as client:
        assert client.call("shots__go")["structuredContent"] == {"version": "1.0"}
        (failure,) = until(lambda: server.app.catalog.failures, "a finding")
        assert "requires packages other than those vendored" in failure.message


def test_numbers_of_versions_are_compared() -> None:
    for requirement, fits in [
        ("a", True),
        ("a>=1.2", True),
        ("a[x] >= 1.2, <2", True),
        ("a>1.10", False),
        ("a<1.10.0", False),
        ("a<=1.10.0", True),
        ("a~=1.9", True),
        ("a~=1.9.0", False),
        ("a==1.*", True),
        ("a!=1.10.*", False),
        ("a==1.10", True),
        ("a!=1.9", True),
        ("a>=2; python_version < '3'", True),
        ("a @ https://example.org/a.whl", True),
    ]:
        assert satisfies("1.10", requirement) == fits


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a",
            "a.b-c",
            "a[x, y] >= 1.2, <2",
            "a (>=1)",
            "a===1!2+x",
            "a~=1.4; python_version < '3'",
        ),
        *("a @ https://example.org/a.whl", "a[x]@file:///a.whl ; os_name == 'nt'", "a;extra=='b'"),
    ],
)
def test_what_pip_takes_may_be_required(text: str) -> None:
    assert is_requirement(text)


@pytest.mark.parametrize(
    "text",
    [
        "left pad >",
        "a >=",
        "a>=1 b",
        "a 1",
        "a,b",
        "a[x",
        "--pre",
        "./a",
        "",
        pytest.param("a" * 501, id="long"),
    ],
)
def test_what_pip_does_not_take_is_told_by_lint(text: str, tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "needy", block=f"requires: [{text!r}]")
    assert [str(one) for one in lint(folder) if "isn't a package for pip" in one.message]


def test_what_is_required_and_not_there_is_told_by_lint(tmp_path: Path) -> None:
    block = "requires: [no-such-package-anywhere]\ntools: tools.yaml"
    imports = "import no_such_package_anywhere.deeper\n\n\ndef main():\n    pass\n"
    folder = write_skill(tmp_path, "needy", block=block, files={**FILES, "scripts/go.py": imports})
    (finding,) = lint(folder)
    assert "neither a skill here nor a package of Python 3." in finding.message
    assert "if it is a package that you know, run `callboard vendor" in finding.message
    assert (finding.severity, finding.file) == ("warning", "SKILL.md")


@pytest.mark.parametrize("given", ["my skills", "my skills/needy"])
def test_the_command_that_lint_prints_finds_the_skill(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    folder = write_skill(tmp_path / "my skills", "needy", block="requires: [no-such-package]")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", given]) == 0
    printed = capsys.readouterr().out.split("`")[1]
    page = folder / "SKILL.md"
    page.write_text(page.read_text("utf-8").replace("[no-such-package]", "[]"), "utf-8")
    assert main(shlex.split(printed)[1:]) == 1
    assert "skill 'needy' requires no packages" in capsys.readouterr().err


def test_a_skill_is_vendored_and_listed_by_the_name_that_the_settings_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    folder = write_skill(tmp_path / "pinned", "needy", block="version: 1.4.0")
    settings = tmp_path / "settings.yaml"
    settings.write_text("skill_paths: [pinned]\n")
    monkeypatch.setenv("CALLBOARD_SETTINGS", str(settings))
    assert main(["vendor", "needy"]) == 1
    assert "skill 'needy' requires no packages" in capsys.readouterr().err
    assert main(["vendor", "nobody"]) == 1
    assert "neither a folder nor a skill that `callboard skills` lists" in capsys.readouterr().err
    assert main(["skills"]) == 0
    assert "needy 1.4.0  0 tools" in capsys.readouterr().out
    assert main(["skills", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["skills"]}
    assert (listed["needy"]["version"], listed["needy"]["folder"]) == (
        "1.4.0",
        str(folder.resolve()),
    )


def test_the_command_that_a_running_host_reports_finds_the_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host's skills are in a folder that only that host searches, and a skill for another host
    has the same name."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    block = "requires: [no-such-package]\ndcc: "
    folder = write_skill(tmp_path / "variants" / "fake", "needy", block=f"{block}fake")
    other = write_skill(tmp_path / "variants" / "maya", "needy", block=f"{block}maya")
    paths = [folder.parent, other.parent]
    with served(skills=True, skill_paths=paths, announce=True) as server:
        catalog = server.app.catalog
        until(lambda: catalog.failures, "the missing package")
        (failure,) = catalog.failures
        assert main(["doctor"]) == 1
        assert failure.message in capsys.readouterr().out
        command = shlex.split(failure.message.split("`")[1])
        page = folder / "SKILL.md"
        page.write_text(page.read_text("utf-8").replace("[no-such-package]", "[]"), "utf-8")
        assert main(command[1:]) == 1
        assert "skill 'needy' requires no packages" in capsys.readouterr().err


def test_of_two_hosts_skills_with_one_name_none_is_taken_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    wanted = "requires: [no-such-package]\ndcc: "
    for dcc in ("maya", "blender"):
        write_skill(tmp_path / dcc, "needy", block=f"{wanted}{dcc}")
    older = write_skill(tmp_path / "older", "needy", block=f"{wanted}maya")
    paths = os.pathsep.join(str(tmp_path / name) for name in ("maya", "blender", "older"))
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", paths)
    assert main(["vendor", "needy"]) == 1
    told = capsys.readouterr().err
    assert "2 skills are called needy; give --host blender or maya, or the folder: " in told
    assert str(older) not in told  # Only the first skill for Maya counts.
    page = tmp_path / "blender" / "needy" / "SKILL.md"
    page.write_text(page.read_text("utf-8").replace("[no-such-package]", "[]"), "utf-8")
    assert main(["vendor", "needy", "--host", "blender"]) == 1
    assert "skill 'needy' requires no packages" in capsys.readouterr().err
