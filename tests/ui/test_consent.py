from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pytestqt", reason="these tests need pytest-qt")
pytest.importorskip("qtpy.QtWidgets", reason="these tests need a Qt", exc_type=ImportError)

from panel_rig import texts
from qtpy.QtCore import Qt

from callboard.errors import REFUSED_BY_ARTIST
from callboard.testing.fake_host import FakeHost
from callboard_ui.panel import ACTIVITY, CONSENT

CODE = {"type": "object", "properties": {"code": {"type": "string"}}}
SCRIPT = "script.execute"


class Scripting(FakeHost):
    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, SCRIPT: object()})


@pytest.fixture
def shown(open_panel: Any) -> Any:
    found = open_panel(Scripting)
    found.ran = []

    def run(code: str) -> str:
        found.ran.append(code)
        return "ran"

    found.server.tool("run", run, CODE, required_capabilities=(SCRIPT,))
    found.server.app.capabilities.restore(SCRIPT)
    return found


def cards(shown: Any) -> list[Any]:
    return list(shown.panel.consent.cards.cards)


def test_code_runs_only_after_a_click_and_is_asked_for_every_time(shown: Any) -> None:
    with shown.server.client() as client:
        first = shown.begin(client, "run", code="print(1)\nprint(2)")
        shown.until(lambda: cards(shown))
        assert shown.panel.tabs.currentIndex() == CONSENT
        card = cards(shown)[0]
        assert card.accessibleName() == "fake asks to call run"
        assert card.text.toPlainText() == "print(1)\nprint(2)"
        assert any(text.startswith(("2:00", "1:5")) for text in texts(card))
        assert not shown.ran
        shown.click(card.once)
        assert "result" in shown.wait(first)
        assert shown.ran == ["print(1)\nprint(2)"]
        shown.until(lambda: not cards(shown))
        second = shown.begin(client, "run", code="again")
        shown.until(lambda: cards(shown))
        shown.click(cards(shown)[0].refuse)
        assert shown.wait(second)["error"]["code"] == REFUSED_BY_ARTIST
        assert len(shown.ran) == 1
        shown.until(lambda: not cards(shown))


def test_allowed_for_the_session_by_keyboard_holds_for_that_session_alone(shown: Any) -> None:
    with shown.server.client() as client, shown.server.client() as other:
        first = shown.begin(client, "run", code="1")
        shown.until(lambda: cards(shown))
        card = cards(shown)[0]
        shown.until(card.session.isEnabled)
        card.text.setFocus()
        for _ in range(3):
            shown.press(shown.panel.focusWidget(), Qt.Key.Key_Tab)
        assert shown.panel.focusWidget() is card.session
        shown.press(card.session, Qt.Key.Key_Space)
        shown.wait(first)
        assert "result" in shown.call(client, "run", code="2")
        shown.until(lambda: not cards(shown))
        third = shown.begin(other, "run", code="3")
        shown.until(lambda: cards(shown))
        shown.click(cards(shown)[0].refuse)
        assert "error" in shown.wait(third)
        assert shown.ran == ["1", "2"]


def test_a_card_that_just_came_or_moved_takes_no_yes(shown: Any) -> None:
    with shown.server.client() as client:
        first = shown.begin(client, "run", code="1")
        shown.until(lambda: len(cards(shown)) == 1)
        assert not cards(shown)[0].once.isEnabled()
        second = shown.begin(client, "run", code="2")
        shown.until(lambda: len(cards(shown)) == 2)
        shown.until(lambda: all(card.once.isEnabled() for card in cards(shown)))
        shown.click(cards(shown)[0].refuse)
        shown.until(lambda: len(cards(shown)) == 1)
        assert cards(shown)[0].question.arguments == {"code": "2"}
        assert not cards(shown)[0].once.isEnabled()
        shown.click(cards(shown)[0].refuse)
        assert "error" in shown.wait(first)
        assert "error" in shown.wait(second)


def test_invisible_characters_are_written_out(shown: Any) -> None:
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="a = 1 \u202e# tidy\x00")
        shown.until(lambda: cards(shown))
        assert cards(shown)[0].text.toPlainText() == "a = 1 \\u202e# tidy\\u0000"
        shown.click(cards(shown)[0].refuse)
        shown.wait(future)


def test_a_hidden_panel_asks_in_a_window_of_its_own(shown: Any) -> None:
    shown.panel.hide()
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="1")
        notice = shown.panel.notice
        shown.until(notice.isVisible)
        assert notice.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        shown.click(notice.cards.cards[0].once)
        assert "result" in shown.wait(future)
        shown.until(lambda: not notice.isVisible())
    assert shown.panel.tabs.currentIndex() == ACTIVITY


def test_a_policy_chosen_by_keyboard_holds(shown: Any) -> None:
    shown.turn_to(CONSENT)
    combo = shown.panel.consent.policies["script"]
    shown.until(lambda: combo.currentText() == "Ask always")
    combo.setFocus()
    shown.qtbot.keyClicks(combo, "Refuse")
    combo.activated.emit(combo.currentIndex())
    desk = shown.server.app.dispatcher.consent
    shown.until(lambda: desk.policies["script"] == "refuse")
    with shown.server.client() as client:
        assert shown.call(client, "run", code="1")["error"]["code"] == REFUSED_BY_ARTIST
    assert not shown.ran


def test_shutting_the_panel_refuses_what_waits(shown: Any) -> None:
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="1")
        shown.until(lambda: cards(shown))
        shown.panel.close()
        assert shown.wait(future)["error"]["code"] == REFUSED_BY_ARTIST
    assert not shown.ran
