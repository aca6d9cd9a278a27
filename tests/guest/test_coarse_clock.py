"""Windows' common clock ticks every 15.6 ms until Python 3.12: nothing short is counted by it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import perf_counter

import pytest
from guest_rig import guest_in

from callboard.guest import loop, main_thread
from callboard.host import Host, HostIdentity
from callboard.testing.fake_host import FakeHost


class Windowed(Host):
    """A host with windows that says nothing of its own about time."""

    @property
    def identity(self) -> HostIdentity:
        return HostIdentity("windowed", "Windowed", "1", headless=False)

    def post(self, fn: Callable[[], None]) -> None:
        raise AssertionError("nobody posts here")


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


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_beside_a_window_nothing_waits_for_a_tick_of_windows_clock(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    host = Windowed()
    assert (host.burst == 0) == (platform == "win32")
    assert host.burst < host.budget
