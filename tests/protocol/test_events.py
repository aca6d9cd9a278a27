"""Server-sent events that arrive in pieces."""

from __future__ import annotations

import pytest

from callboard.protocol import events
from callboard.protocol.events import EventReader, event

STREAM = b": hello\n\n" + event({"a": "\u2028"}) + b"id: 7\r\ndata:1\r\ndata: 2\r\n\r\ndata: late"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_the_stream_is_cut(size: int) -> None:
    reader = EventReader()
    events = []
    for start in range(0, len(STREAM), size):
        events += reader.feed(STREAM[start : start + size])
    assert events == ['{"a":"\u2028"}'.encode(), b"1\n2"]


def test_an_event_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "EVENT_LIMIT", 100)
    reader = EventReader()
    for _ in range(50):
        assert reader.feed(b"data: 1\n\n") == [b"1"]  # Many small events are allowed.
    with pytest.raises(ValueError, match="over 100 bytes"):
        reader.feed(b"data: 1\n" * 50)
