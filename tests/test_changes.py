"""A watcher gets every change until it stops."""

from __future__ import annotations

from callboard.changes import Changes


def test_everyone_hears_in_the_order_in_which_they_came() -> None:
    changes: Changes[[str]] = Changes()
    heard: list[str] = []
    changes.watch(lambda what: heard.append(f"first {what}"))
    changes.watch(lambda what: heard.append(f"second {what}"))
    changes.tell("a")
    assert heard == ["first a", "second a"]


def test_who_stops_hears_no_more_and_may_stop_twice() -> None:
    changes: Changes[[]] = Changes()
    heard: list[int] = []

    def listen() -> None:
        heard.append(1)

    stop = changes.watch(listen)
    changes.watch(listen)
    stop()
    stop()
    changes.tell()
    assert heard == [1]


def test_a_listener_may_stop_while_it_is_told() -> None:
    changes: Changes[[]] = Changes()
    heard: list[str] = []

    def once() -> None:
        heard.append("once")
        stop()

    stop = changes.watch(once)
    changes.watch(lambda: heard.append("always"))
    changes.tell()
    changes.tell()
    assert heard == ["once", "always", "always"]


def test_it_knows_whether_anybody_listens() -> None:
    changes: Changes[[]] = Changes()
    assert not changes.watched
    stop = changes.watch(lambda: None)
    assert changes.watched
    stop()
    assert not changes.watched
