"""Up to Python 3.12, Windows' usual clock ticks every 15.6 ms, so it can't measure anything
short."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import pytest
from guest_rig import guest_in

from callboard.calls import call
from callboard.guest import loop, main_thread
from callboard.host import Host, HostIdentity
from callboard.records import recorder
from callboard.skills.discovery import BUNDLED
from callboard.skills.load import load_skill
from callboard.skills.scripts import SkillScripts
from callboard_testing.fake_host import FakeHost
from serving import served


class Windowed(Host):
    """A host with a GUI and the default time limits."""

    @property
    def identity(self) -> HostIdentity:
        return HostIdentity("windowed", "Windowed", "1", headless=False)

    def post(self, fn: Callable[[], None]) -> None:
        raise AssertionError("the guest must not post anything in this test")


def test_a_budget_is_kept_while_the_common_clock_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (loop, main_thread):
        monkeypatch.setattr(module, "monotonic", lambda: 0.0, raising=False)
    host = FakeHost(budget=0.008)
    ticks = set()

    def slices() -> Iterator[None]:
        for _ in range(40):
            ticks.add(host.ran)
            until = perf_counter() + 0.001
            while perf_counter() < until:
                pass
            yield

    with guest_in(host) as guest:
        _, done = guest.job(slices)
        host.tick_until(done.done)
    assert len(ticks) > 2


class Slow(list[str]):
    """A list whose items each take longer to read than a slice of 5 ms."""

    def __getitem__(self, at: Any) -> Any:
        until = perf_counter() + 0.006
        while perf_counter() < until:
            pass
        return [{"name": name, "type": "mesh", "path": name} for name in super().__getitem__(at)]

    def entries(self) -> Iterator[SimpleNamespace]:
        for at in range(len(self)):
            for entry in self[at : at + 1]:
                yield SimpleNamespace(name=entry["name"], text="")

    def summaries(self) -> Slow:
        return self


@pytest.mark.parametrize(
    ("skill", "tool", "words"),
    [
        ("scene", "list_objects", {"pattern": "c*"}),
        ("docs", "lookup", {"words": "no such word"}),
    ],
)
def test_so_is_that_of_a_tool_that_goes_through_a_whole_scene_or_manual(
    skill: str, tool: str, words: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_skill(BUNDLED / skill)
    (declared,) = [each for each in loaded.tools if each.name == tool]
    scripts = SkillScripts(loaded)
    with monkeypatch.context() as stopped:
        stopped.setattr(time, "monotonic", lambda: 0.0)
        function = scripts.entry(declared).function
    port = Slow(f"c{number}" for number in range(60))
    ctx = SimpleNamespace(
        port=lambda name: port, progress=lambda *told: None, host_identity=Windowed().identity
    )
    assert list(function(ctx, **words))
    scripts.close()


def test_a_short_call_is_recorded_with_what_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    for module in (call, recorder):
        monkeypatch.setattr(module, "monotonic", lambda: 0.0, raising=False)
    with served(records=True) as server:
        server.tool("wait", lambda: len(Slow(["c"])[:1]))
        with server.client() as client:
            client.call("wait")
        assert server.app.records is not None
        assert server.app.records.flush()
        (recorded,) = server.app.records.reader().recent().calls
    assert recorded.duration_ms >= 6


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_beside_a_window_nothing_waits_for_a_tick_of_windows_clock(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    host = Windowed()
    assert (host.burst == 0) == (platform == "win32")
    assert host.burst < host.budget
