"""Tests how many times a request for prompts opens their files, and which thread opens them."""

from __future__ import annotations

import json
import os
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from serving import Served, served
from waiting import until

SKILL = "---\nname: {name}\ndescription: d\nmetadata:\n  dcc-mcp:\n    prompts: prompts.yaml\n---\n"
PROMPT = "prompts: [{name: hello, description: d, template: one}]"

_watchers: list[Callable[[str], None]] = []
_hooked: list[bool] = []


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and str(arguments[0]).endswith("prompts.yaml"):
        for watcher in _watchers:
            watcher(str(arguments[0]))


@contextmanager
def told(watcher: Callable[[str], None]) -> Iterator[None]:
    """Pass ``watcher`` the path of every prompt file that is opened inside the block."""
    if not _hooked:
        sys.addaudithook(_opened)  # The hook stays forever, because Python can't remove one.
        _hooked.append(True)
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


@contextmanager
def openings() -> Iterator[list[tuple[str, str]]]:
    """Yield ``(skill, thread)`` for every opening of a prompt file inside the block."""
    opened: list[tuple[str, str]] = []

    def note(path: str) -> None:
        opened.append((Path(path).parent.name, threading.current_thread().name))

    with told(note):
        yield opened


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    for name in ("first", "second"):
        skill = tmp_path / "skills" / name
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(SKILL.format(name=name))
        (skill / "prompts.yaml").write_text(PROMPT)
    return tmp_path / "skills"


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served(skills=True, skill_paths=[folder]) as running:
        yield running


def over_mcp(method: str, params: dict[str, Any]) -> Callable[[Served], str]:
    def ask(server: Served) -> str:
        with server.client() as client:
            return json.dumps(client.request(method, params)["result"])

    return ask


def over_rest(path: str) -> Callable[[Served], str]:
    def ask(server: Served) -> str:
        url = server.app.url.removesuffix("mcp") + "v1/" + path
        headers = {"Authorization": f"Bearer {server.app.token}"}
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            text: str = answer.read().decode()
            return text

    return ask


COMPLETION = {
    "ref": {"type": "ref/prompt", "name": "first.hello"},
    "argument": {"name": "a", "value": ""},
}
ONE = [
    over_mcp("prompts/get", {"name": "first.hello"}),
    over_mcp("completion/complete", COMPLETION),
    over_rest("prompts/first.hello"),
]
ALL = [over_mcp("prompts/list", {}), over_rest("prompts")]


@pytest.mark.parametrize("ask", ONE)
def test_one_prompt_is_one_reading_of_its_own_skill(
    server: Served, ask: Callable[[Served], str]
) -> None:
    with openings() as opened:
        ask(server)
    assert [skill for skill, _ in opened] == ["first"]


@pytest.mark.parametrize("ask", ALL)
def test_a_list_is_one_reading_of_each_skill(server: Served, ask: Callable[[Served], str]) -> None:
    with openings() as opened:
        ask(server)
    assert sorted(skill for skill, _ in opened) == ["first", "second"]


@pytest.mark.parametrize("ask", ONE + ALL)
def test_no_disk_holds_up_the_host_or_the_loop(
    server: Served, ask: Callable[[Served], str]
) -> None:
    with openings() as opened:
        ask(server)
    threads = {thread for _, thread in opened}
    assert threads.isdisjoint({"fake-host-main", "callboard-watcher"}), threads


@pytest.mark.parametrize("ask", [ONE[0], ONE[2]])
def test_an_edit_is_in_the_next_answer(
    server: Served, folder: Path, ask: Callable[[Served], str]
) -> None:
    assert "one" in ask(server)
    (folder / "first" / "prompts.yaml").write_text(PROMPT.replace("one", "another"))
    assert "another" in ask(server)


def test_what_was_read_is_at_hand_until_its_file_changes(server: Served, folder: Path) -> None:
    file, prompts = folder / "first" / "prompts.yaml", server.app.prompts
    os.utime(file, (1, 1))  # A file that changed a moment ago may change again unnoticed.
    assert prompts.at_hand("first.hello") is None
    assert "one" in ONE[0](server)
    until(lambda: prompts.at_hand("first.hello") is not None, "a disk that answers at once")
    file.write_text(PROMPT.replace("one", "another"))
    assert prompts.at_hand("first.hello") is None
    assert "another" in ONE[0](server)


@pytest.mark.parametrize("ask", ALL)
def test_a_prompt_that_comes_while_files_are_read_is_in_the_answer(
    server: Served, ask: Callable[[Served], str]
) -> None:
    def register(path: str) -> None:
        if server.app.prompts.registered("late") is None:
            server.app.prompts.register_prompt("late", "d", template="x")

    with told(register):
        assert '"late"' in ask(server)
