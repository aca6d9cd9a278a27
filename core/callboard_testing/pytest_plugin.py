"""Fixtures for a skill's own tests. In the ``conftest.py`` beside the tests:

    from callboard_testing.pytest_plugin import *

Importing this module is fast, because the server is imported only by the first test that needs it.
A fixture here is overridden by one with the same name in a test file, or by
``@pytest.mark.parametrize`` for a test's argument with that name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from callboard.skills.model import SkillMetadata
    from callboard_testing.skill_bench import Answer, SkillBench

__all__ = [
    "callboard_answers",
    "callboard_roots",
    "callboard_skill",
    "callboard_skill_paths",
    "callboard_withdrawn",
    "keep_scene",
]


@pytest.fixture
def callboard_skill_paths() -> Sequence[str | Path]:
    """Folders with skills that the tested skill depends on. Override this fixture if such skills
    are neither beside the tested skill nor where a server started here would find them."""
    return ()


@pytest.fixture
def callboard_answers() -> dict[str, Answer]:
    """The client's answers to a tool's questions. A key is ``elicitation/create`` or
    ``sampling/createMessage``. Its value is a result, or a function of the question that returns
    one. The bench's ``answers`` begin with these."""
    return {}


@pytest.fixture
def callboard_roots() -> Sequence[str | Path]:
    """The client's workspace folders. If this is empty, the client names none."""
    return ()


@pytest.fixture
def callboard_withdrawn() -> Sequence[str]:
    """Capabilities that the artist has switched off."""
    return ()


@pytest.fixture
def keep_scene() -> None:
    """Keep the scene as the last test left it, for a test that uses this fixture or is marked
    ``usefixtures("keep_scene")``."""


@pytest.fixture
def callboard_skill(
    request: pytest.FixtureRequest,
    callboard_skill_paths: Sequence[str | Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SkillBench]:
    """The skill that the test file belongs to, on an empty scene: an OpenUSD stage, or the host in
    ``CALLBOARD_TEST_HOST``. Skips the tests of a skill for another host."""
    from callboard.skills.load import load_skill
    from callboard_testing.skill_bench import SkillBench, host_for_tests, skill_folder

    folder, host = skill_folder(request.path), host_for_tests()
    skill = load_skill(folder)
    _skip_for_another_host(skill, host)
    paths = _with_needed(skill, host, callboard_skill_paths)
    # The tester's other skills, caches and records are kept out. CALLBOARD_HOME is outside the
    # test's own folder, because a skill may list that folder.
    for variable in list(os.environ):
        if variable.endswith("_SKILL_PATHS") or variable == "CALLBOARD_SITE":
            monkeypatch.delenv(variable)
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path_factory.mktemp("callboard")))
    bench = SkillBench(
        folder,
        host=host,
        skill_paths=paths,
        roots=_given(request, "callboard_roots", ()),
        withdrawn=_given(request, "callboard_withdrawn", ()),
        keep_scene="keep_scene" in request.fixturenames,
    )
    bench.answers.update(_given(request, "callboard_answers", {}))
    with bench:
        yield bench


def _skip_for_another_host(skill: SkillMetadata, host: str) -> None:
    from callboard.skills.discovery import suits

    if not suits(skill, host):
        pytest.skip(
            f"skill '{skill.name}' is for {skill.dcc}, and these tests run in {host}: set "
            f"CALLBOARD_TEST_HOST={skill.dcc} to run them"
        )


def _with_needed(skill: SkillMetadata, host: str, given: Sequence[str | Path]) -> list[Path]:
    """Return the given folders of skills, and the skills elsewhere that ``skill`` depends on."""
    from callboard.settings import named_skill_paths
    from callboard.skills.discovery import search_paths
    from callboard_testing.lint.needed_skills import needed_skills

    named = [Path(path).absolute() for path in given]
    search = [*named, *search_paths(host, named_skill_paths()), skill.path.absolute().parent]
    needed = needed_skills({skill.name: skill}, search, host).values()
    return [*named, *(one.skill.path for one in needed if one.search_path not in named)]


def _given(request: pytest.FixtureRequest, name: str, default: Any) -> Any:
    """Return the named fixture's value, or the default if the ``conftest.py`` doesn't import the
    fixture."""
    try:
        return request.getfixturevalue(name)
    except pytest.FixtureLookupError:
        return default
