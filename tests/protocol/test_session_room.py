"""An idle session is closed when there is no room for a new one."""

from __future__ import annotations

from time import monotonic

import pytest

from callboard.clients.holder import LOCAL, TokenHolder
from callboard.protocol.peer import ClientInfo
from callboard.protocol.revisions import negotiate
from callboard.protocol.session import YIELDING_AFTER, Session, Sessions, TooManySessions


class Stream:
    """A stream to a client that accepts every message."""

    def send(self, message: object) -> bool:
        return True


def filled(limit: int, idle_for: float) -> tuple[Sessions, list[Session], list[Session]]:
    """Return a full set of sessions, a list of those sessions with the longest idle first, and the
    list of sessions that have been closed."""
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
        sessions.room(LOCAL)
    assert len(sessions) == len(made)
    assert closed == []


def test_the_longest_idle_session_makes_room_for_a_new_client() -> None:
    sessions, made, closed = filled(3, idle_for=YIELDING_AFTER + 10)
    sessions.room(LOCAL)
    assert closed == [made[0]]
    assert sessions.open.get(made[0].id) is None
    assert sessions.open.get(made[1].id) is made[1]


def test_a_session_that_listens_keeps_its_place() -> None:
    sessions, made, closed = filled(2, idle_for=YIELDING_AFTER + 10)
    made[0].listen(Stream())
    sessions.room(LOCAL)
    assert closed == [made[1]]


def test_who_has_most_makes_room_for_another_client() -> None:
    sessions, made, closed = filled(4, idle_for=1)
    other = TokenHolder("other", "1")
    for turn in range(2):
        sessions.room(other)
        sessions.add(Session(negotiate("2025-11-25"), ClientInfo(), {}, other))
        assert closed == made[: turn + 1]
    for holder in (other, LOCAL):
        with pytest.raises(TooManySessions):
            sessions.room(holder)


def test_an_idle_session_is_not_thrown_out_by_a_client_that_has_more() -> None:
    sessions, made, closed = filled(3, idle_for=1)
    sessions.end(made[2])
    closed.clear()
    honest = Session(negotiate("2025-11-25"), ClientInfo(), {}, TokenHolder("honest", "1"))
    honest.last_seen = monotonic() - YIELDING_AFTER - 10
    sessions.add(honest)
    with pytest.raises(TooManySessions):
        sessions.room(LOCAL)
    assert closed == []
