"""A selection is compared with the request, and not only with the objects that the host reports as
selected."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from callboard.host import SCENE_MUTATE, SCENE_READ
from callboard.skill_kit.read_back import NotVerified
from callboard_testing.direct_calls import DirectCaller
from callboard_testing.fake_host import FakeHost
from callboard_testing.fakes.scene import FakeScene


class SelectsOne(FakeScene):
    """A host that can select only one object at a time, and doesn't report this."""

    def select(self, names: Sequence[str]) -> list[str]:
        return super().select(names[-1:])


def host_with(scene: type[FakeScene]) -> DirectCaller:
    host = FakeHost()
    one = scene(host.require_main_thread)
    host.set_ports({SCENE_READ: one, SCENE_MUTATE: one})
    call = DirectCaller(host)
    for name in ("One", "Two"):
        call("scene__create_primitive", {"kind": "cube", "name": name})
    return call


def test_a_host_that_selects_fewer_is_found_out() -> None:
    call = host_with(SelectsOne)
    with pytest.raises(NotVerified, match="selection should be"):
        call("scene__select", {"names": ["One", "Two"]})


def test_two_names_of_one_object_select_it() -> None:
    call = host_with(FakeScene)
    answer = call("scene__select", {"names": ["One", "/One"]})
    assert answer["verified"]
    assert set(answer["selection"]) == {"/One"}
