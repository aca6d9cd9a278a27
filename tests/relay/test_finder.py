"""The host that the bridge chooses, while hosts of several kinds come and go."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from callboard import McpHttpConfig, McpHttpServer
from callboard.skill_server import ServerHandle
from callboard.transport import instances
from callboard.transport.instances import Instance
from callboard_programs.relay.finder import HostFinder
from waiting import until


def start(kind: str) -> ServerHandle:
    return McpHttpServer(config=McpHttpConfig(skills=False, records=False), kind=kind).start()


def awaited_host(finder: HostFinder) -> Instance:
    """Wait for the host, which may not answer at first on a busy machine, and return it."""
    instance = until(finder.find, "the host")
    assert instance is not None
    return instance


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))


def test_it_stays_with_its_host_and_then_with_the_hosts_kind() -> None:
    finder = HostFinder(None)
    assert finder.find() is None
    assert finder.reason == ""
    with start("maya"):
        first = awaited_host(finder)
        assert first.kind == "maya"
        finder.connected(first)
        with start("maya"), start("houdini"):
            assert awaited_host(finder) == first
    with start("houdini"):
        assert finder.find() is None
        assert "waiting for maya" in finder.reason
        with start("maya") as again:
            assert awaited_host(finder).url == again.url


def test_of_several_none_is_taken_until_one_is_named() -> None:
    with start("maya") as maya, start("blender"):
        finder = HostFinder(None)
        assert finder.find() is None
        assert "name one with --instance" in finder.reason
        named = awaited_host(HostFinder("maya"))
        assert named.url == maya.url
        assert awaited_host(HostFinder(named.id[:6])) == named


def test_a_host_that_does_not_answer_is_waited_for() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    instances.announce(Instance("a" * 16, "maya", "maya", url, None, os.getpid(), time.time()))
    finder = HostFinder("maya")
    assert finder.find() is None
    assert "is running, but does not answer now" in finder.reason
    assert finder.changed()


def test_it_looks_again_once_a_host_came_or_went() -> None:
    finder = HostFinder("maya")
    assert finder.find() is None
    assert not finder.changed()
    with start("maya"):
        assert finder.changed()


def test_when_the_named_instance_has_ended_there_is_a_choice_among_its_kind() -> None:
    with start("houdini"), start("maya") as first:
        id = next(e.instance.id for e in instances.listed() if e.instance.url == first.url)
        finder = HostFinder(id)
        named = awaited_host(finder)
        finder.connected(named)
        with start("maya"):
            until(lambda: finder.running() == [named], "the named one alone")
    with start("houdini"), start("maya") as later:
        until(lambda: [i.url for i in finder.running()] == [later.url], "the later one alone")
