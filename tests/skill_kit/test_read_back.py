"""A shipped tool fails when the host did something other than what it was asked to do."""

from __future__ import annotations

import pytest

from callboard.host import SCENE_MUTATE
from callboard.skill_kit.read_back import NotVerified
from callboard_testing.direct_calls import DirectCaller
from callboard_testing.fake_host import FakeHost


def test_a_parent_that_was_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    host = FakeHost()
    call = DirectCaller(host)
    for name in ("Wheel", "Car"):
        call("scene__create_primitive", {"kind": "cube", "name": name})
    monkeypatch.setattr(host.ports[SCENE_MUTATE], "set_parent", lambda name, *_: name)
    with pytest.raises(NotVerified, match="parent should be"):
        call("scene__set_parent", {"name": "Wheel", "parent": "Car"})
