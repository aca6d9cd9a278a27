"""The host that the bridge chooses, while hosts of several kinds come and go."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard import McpHttpConfig, McpHttpServer
from callboard.skill_server import ServerHandle
from callboard_programs.relay.finder import HostFinder


def start(kind: str) -> ServerHandle:
    return McpHttpServer(config=McpHttpConfig(skills=False, records=False), kind=kind).start()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))


def test_it_stays_with_its_host_and_then_with_the_hosts_kind() -> None:
    finder = HostFinder(None)
    assert finder.find() is None
    assert finder.reason == ""
    with start("maya"):
        first = finder.find()
        assert first is not None
        assert first.kind == "maya"
        finder.connected(first)
        with start("maya"), start("houdini"):
            assert finder.find() == first
    with start("houdini"):
        assert finder.find() is None
        assert "waiting for maya" in finder.reason
        with start("maya") as again:
            second = finder.find()
            assert second is not None
            assert second.url == again.url


def test_of_several_none_is_taken_until_one_is_named() -> None:
    with start("maya") as maya, start("blender"):
        finder = HostFinder(None)
        assert finder.find() is None
        assert "name one with --instance" in finder.reason
        named = HostFinder("maya").find()
        assert named is not None
        assert named.url == maya.url
        by_id = HostFinder(named.id[:6]).find()
        assert by_id == named


def test_it_looks_again_once_a_host_came_or_went() -> None:
    finder = HostFinder("maya")
    assert finder.find() is None
    assert not finder.changed()
    with start("maya"):
        assert finder.changed()
