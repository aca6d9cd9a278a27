from __future__ import annotations

import pytest

from callboard_ui.shown_text import duration, shown, visible


def test_nothing_stays_invisible() -> None:
    assert visible("plain\ttext\n") == "plain\ttext\n"
    assert visible("a\u202eb\u200bc\x1b[0m") == "a\\u202eb\\u200bc\\u001b[0m"
    assert visible("größe 漢字 🎬") == "größe 漢字 🎬"
    assert "1 more characters" in shown("x" * 199_999)


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, ""), (0.2, "<1 ms"), (12.4, "12 ms"), (1500, "1.5 s"), (125_000, "2 min 5 s")],
)
def test_lengths_of_time_read_at_a_glance(ms: float | None, text: str) -> None:
    assert duration(ms) == text
