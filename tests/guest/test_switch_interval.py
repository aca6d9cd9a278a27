"""Python's switch interval while a stand-in works, and afterwards."""

from __future__ import annotations

import sys

import pytest
from guest_rig import guest_in

from callboard.guest.switch_interval import TURN, short_turns
from callboard_testing.fake_host import FakeHost


def test_the_last_one_out_puts_back_what_was_there() -> None:
    before = sys.getswitchinterval()
    first, second = short_turns(), short_turns()
    first.__enter__()
    second.__enter__()
    assert sys.getswitchinterval() == pytest.approx(TURN)
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(TURN)
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_turns_are_put_back_by_a_block_that_fails() -> None:
    before = sys.getswitchinterval()
    with pytest.raises(KeyError), short_turns():
        raise KeyError
    assert sys.getswitchinterval() == before


def test_turns_are_short_while_the_main_thread_is_away() -> None:
    before = sys.getswitchinterval()
    with guest_in(FakeHost()) as guest, guest.connect() as client:
        # The host doesn't tick, so a stand-in answers.
        assert client.say("anybody there?") == "anybody there?"
        assert sys.getswitchinterval() == pytest.approx(TURN)
    assert sys.getswitchinterval() == before
