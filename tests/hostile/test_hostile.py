"""Tests a few of the generated inputs. ``python -m hostile --factor 100`` tests a million."""

from __future__ import annotations

import sys

import pytest

from hostile.__main__ import ROOMS, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it makes links")


@pytest.mark.parametrize("room", ROOMS)
def test_a_few_of_each_room(room: str) -> None:
    run(room, ROOMS[room][0] // 10, seed=0)
