from __future__ import annotations

from callboard.clients.holder import LOCAL
from callboard.protocol.peer import ClientInfo, Peer
from callboard.protocol.revisions import REVISION_2026_07_28
from callboard.protocol.stateless import KEPT, RECENT_LIMIT, RecentClients


def peer(name: str) -> Peer:
    return Peer("stateless", REVISION_2026_07_28, ClientInfo(name, "1"), {}, LOCAL)


def names(recent: RecentClients) -> list[str]:
    return [client.name for client, _ in recent.all()]


def test_who_is_new_is_told_of_and_who_comes_again_is_not() -> None:
    recent, told = RecentClients(), []
    recent.watch(lambda: told.append(names(recent)))
    for name in ("a", "b", "a"):
        recent.saw(peer(name))
    assert told == [["a"], ["a", "b"]]
    assert names(recent) == ["b", "a"]


def test_who_makes_up_names_pushes_out_only_the_least_recent() -> None:
    recent = RecentClients()
    for number in range(1000):
        recent.saw(peer(str(number)))
    assert names(recent) == [str(number) for number in range(1000 - RECENT_LIMIT, 1000)]


def test_who_is_silent_is_forgotten() -> None:
    now = 0.0
    recent = RecentClients(lambda: now)
    assert recent.next_goes_in is None
    recent.saw(peer("a"))
    now = 10.0
    recent.saw(peer("b"))
    assert recent.next_goes_in == KEPT - 10.0
    now = KEPT + 1.0
    assert names(recent) == ["b"]
    now = KEPT + 20.0
    assert names(recent) == []
    assert recent.next_goes_in is None
