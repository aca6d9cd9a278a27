"""Who has to go when there is no room for another session."""

from __future__ import annotations

from time import monotonic

import pytest

from callboard.clients.holder import LOCAL
from callboard.protocol.peer import ClientInfo
from callboard.protocol.revisions import negotiate
from callboard.protocol.session import YIELDING_AFTER, Session, Sessions, TooManySessions


class Stream:
    """Takes whatever is sent."""

    def send(self, message: object) -> bool:
        return True


def filled(limit: int, idle_for: float) -> tuple[Sessions, list[Session], list[Session]]:
    """As many sessions as there is room for, the first one idle longest; and who was closed."""
    closed: list[Session] = []
    sessions = Sessions(closed.append, limit=limit)
    made = [Session(negotiate("2025-11-25"), ClientInfo(), {}, LOCAL) for _ in range(limit)]
    for number, session in enumerate(made):
        session.last_seen = monotonic() - idle_for + number
        sessions.add(session)
    return sessions, made, closed


def test_sessions_that_were_just_used_are_not_thrown_out() -> None:
    sessions, made, closed = filled(3, idle_for=YIELDING_AFTER / 2)
    with pytest.raises(TooManySessions):
        sessions.room()
    assert len(sessions) == len(made)
    assert closed == []


def test_the_longest_idle_session_makes_room_for_a_new_client() -> None:
    sessions, made, closed = filled(3, idle_for=YIELDING_AFTER + 10)
    sessions.room()
    assert closed == [made[0]]
    assert sessions.open.get(made[0].id) is None
    assert sessions.open.get(made[1].id) is made[1]


def test_a_session_that_listens_keeps_its_place() -> None:
    sessions, made, closed = filled(2, idle_for=YIELDING_AFTER + 10)
    made[0].listen(Stream())
    sessions.room()
    assert closed == [made[1]]
