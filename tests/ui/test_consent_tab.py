from __future__ import annotations

from typing import Any

import pytest

from needed import need

need("qt")

from panel_rig import reads, texts
from qtpy.QtCore import QCoreApplication, QPoint, QPointF, Qt
from qtpy.QtGui import QWheelEvent
from qtpy.QtWidgets import QApplication

from callboard.clients.book import ClientBook
from callboard.errors import REFUSED_BY_ARTIST
from callboard_testing.fake_host import FakeHost
from callboard_ui.panel import ACTIVITY, CONSENT

CODE = {"type": "object", "properties": {"code": {"type": "string"}}}
SCRIPT = "script.execute"


class Scripting(FakeHost):
    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, SCRIPT: object()})


@pytest.fixture
def shown(open_panel: Any) -> Any:
    panel = open_panel(Scripting)
    panel.ran = []

    def run(code: str) -> str:
        panel.ran.append(code)
        return "ran"

    panel.server.tool("run", run, CODE, required_capabilities=(SCRIPT,))
    return panel


def show_consent(shown: Any) -> None:
    """Follow the banner to the question."""
    shown.click(shown.panel.banner.button)
    assert shown.panel.tabs.currentIndex() == CONSENT


def cards(shown: Any) -> list[Any]:
    return list(shown.panel.consent.cards.cards)


def test_code_runs_only_after_a_click_and_is_asked_for_every_time(shown: Any) -> None:
    with shown.server.client() as client:
        first = shown.begin(client, "run", code="print(1)\nprint(2)")
        shown.until(lambda: cards(shown))
        show_consent(shown)
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


def test_one_tool_is_allowed_for_the_project_and_no_other(open_panel: Any) -> None:
    shown = open_panel(rules=True)
    for name in ("wipe", "clear"):
        shown.server.tool(name, lambda: "gone", annotations={"destructiveHint": True})
    shown.panel.link.controls.set_consent_policy("destructive", "ask")
    combo = shown.panel.consent.policies["destructive"]
    shown.until(lambda: combo.currentData() == "ask")
    with shown.server.client() as client:
        first = shown.begin(client, "wipe")
        shown.until(lambda: cards(shown))
        show_consent(shown)
        card = cards(shown)[0]
        assert not card.more.isEnabled()
        shown.until(card.more.isEnabled)
        assert card.for_tool in card.more.menu().actions()
        card.for_tool.trigger()
        assert "result" in shown.wait(first)
        assert "result" in shown.call(client, "wipe")
        shown.until(lambda: not cards(shown))
        other = shown.begin(client, "clear")
        shown.until(lambda: cards(shown))
        shown.click(cards(shown)[0].refuse)
        assert shown.wait(other)["error"]["code"] == REFUSED_BY_ARTIST
    with shown.server.client() as again:
        # The grant is for the project, so a call in another session of the same client asks no
        # question.
        assert "result" in shown.call(again, "wipe")
        shown.panel.consent.rules.setChecked(True)
        lines = shown.panel.consent.clients
        shown.until(lambda: reads(lines, "may: deleting, replacing, wipe only; this project"))


def test_allowed_for_the_session_by_keyboard_holds_for_that_session_alone(shown: Any) -> None:
    with shown.server.client() as client, shown.server.client() as other:
        first = shown.begin(client, "run", code="1")
        shown.until(lambda: cards(shown))
        show_consent(shown)
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
        show_consent(shown)
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
        show_consent(shown)
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


def test_a_policy_is_chosen_behind_rules_and_neither_by_wheel_nor_by_typing(shown: Any) -> None:
    shown.turn_to(CONSENT)
    combo = shown.panel.consent.policies["script"]
    assert not combo.isVisible()
    shown.click(shown.panel.consent.rules)
    shown.until(lambda: combo.isVisible() and combo.currentText() == "Ask always")
    combo.setFocus()
    shown.qtbot.keyClicks(combo, "al")
    turn_wheel(combo)
    assert combo.currentText() == "Ask always"
    shown.press(combo, Qt.Key.Key_Space)
    choices = combo.view()
    shown.until(choices.isVisible)
    for _ in range(3):
        shown.press(choices, Qt.Key.Key_Down)
    shown.press(choices, Qt.Key.Key_Return)
    desk = shown.server.app.dispatcher.consent
    shown.until(lambda: desk.policies["script"] == "refuse")
    with shown.server.client() as client:
        assert shown.call(client, "run", code="1")["error"]["code"] == REFUSED_BY_ARTIST
    assert not shown.ran


def turn_wheel(widget: Any) -> None:
    at = widget.rect().center()
    event = QWheelEvent(
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(widget, event)


def test_a_question_takes_neither_the_tab_nor_the_keyboard(shown: Any) -> None:
    panel = shown.panel
    panel.activity.search.setFocus()
    banner = panel.banner.text
    assert banner.text() == "No questions are waiting"
    before = panel.tabs.geometry()
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="1")
        shown.until(lambda: banner.text() == "fake asks to call run")
        shown.qtbot.keyClicks(panel.focusWidget(), "al")
        assert panel.activity.search.text() == "al"
        assert panel.tabs.currentIndex() == ACTIVITY
        assert panel.tabs.geometry() == before
        assert dict(panel.link.controls.status.snapshot.policies)["script"] == "ask"
        show_consent(shown)
        shown.click(cards(shown)[0].refuse)
        shown.wait(future)


def test_a_card_shows_every_argument_and_the_tools_title(shown: Any) -> None:
    def wipe(code: str, what: str, options: dict[str, bool]) -> None:
        shown.ran.append(code)

    schema = {"type": "object"}
    shown.server.tool("wipe", wipe, schema, title="Wipe Scene", required_capabilities=(SCRIPT,))
    with shown.server.client() as client:
        future = shown.begin(
            client, "wipe", code='print("tidy up")', what="/World", options={"recursive": True}
        )
        shown.until(lambda: cards(shown))
        show_consent(shown)
        text = cards(shown)[0].text.toPlainText()
        assert '"what": "/World"' in text
        assert '"recursive": true' in text
        assert text.endswith('code:\nprint("tidy up")')
        assert reads(cards(shown)[0], "Wipe Scene (wipe) runs code of its own")
        shown.click(cards(shown)[0].refuse)
        shown.wait(future)


def test_code_that_fits_is_allowed_without_scrolling_whatever_its_frame(
    shown: Any, request: pytest.FixtureRequest
) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    request.addfinalizer(lambda: application.setStyleSheet(""))
    application.setStyleSheet("QPlainTextEdit { border: 4px solid gray; }")
    with shown.server.client() as client:
        call = shown.begin(client, "run", code="print(1)\nprint(2)\nprint(3)\n")
        shown.until(lambda: cards(shown))
        show_consent(shown)
        shown.until(cards(shown)[0].once.isEnabled)
        shown.click(cards(shown)[0].once)
        assert "result" in shown.wait(call)


def test_long_code_says_how_much_more_there_is_and_is_allowed_once_its_end_was_seen(
    shown: Any,
) -> None:
    code = "\n".join(f"step({number})" for number in range(2000))
    with shown.server.client() as client:
        future = shown.begin(client, "run", code=code)
        shown.until(lambda: cards(shown))
        show_consent(shown)
        card = cards(shown)[0]
        shown.until(lambda: reads(card, "more characters: scroll to the end"))
        notice = next(text for text in texts(card) if "more characters" in text)
        more = int(notice.split()[1].replace(",", ""))
        assert len(code) - 500 < more < len(code)
        # Wait until the cards accept a click on Yes, which they don't at first.
        again = shown.begin(client, "run", code="2")
        shown.until(lambda: len(cards(shown)) == 2)
        shown.until(cards(shown)[1].once.isEnabled)
        assert not card.once.isEnabled()
        bar = card.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        shown.until(card.once.isEnabled)
        shown.click(card.once)
        assert "result" in shown.wait(future)
        shown.until(lambda: len(cards(shown)) == 1)
        shown.click(cards(shown)[0].refuse)
        shown.wait(again)
    assert shown.ran == [code]


def test_what_is_too_long_to_be_read_can_only_be_refused(shown: Any) -> None:
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="x = 1\n" * 40_000)
        shown.until(lambda: cards(shown))
        show_consent(shown)
        card = cards(shown)[0]
        shown.until(lambda: reads(card, "40,000 more characters than can be shown"))
        bar = card.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        # Wait until the cards accept a click on Yes, which they don't at first.
        again = shown.begin(client, "run", code="2")
        shown.until(lambda: len(cards(shown)) == 2)
        shown.until(cards(shown)[1].once.isEnabled)
        assert not card.once.isEnabled()
        for waiting in cards(shown):
            shown.click(waiting.refuse)
        assert "error" in shown.wait(future)
        assert "error" in shown.wait(again)


def test_six_questions_of_a_hidden_panel_stay_on_the_screen(shown: Any) -> None:
    shown.panel.hide()
    with shown.server.client() as client:
        futures = [shown.begin(client, "run", code=f"{n}\n" * 12) for n in range(6)]
        notice = shown.panel.notice
        shown.until(lambda: len(notice.cards.cards) == 6)
        screen = notice.screen().availableGeometry()
        shown.until(lambda: notice.height() <= screen.height())
        assert screen.contains(notice.geometry())
        for question in list(shown.server.app.dispatcher.consent.questions):
            shown.server.app.controls.answer(question, "refuse")
        for future in futures:
            shown.wait(future)


def test_shutting_the_panel_refuses_what_waits(shown: Any) -> None:
    with shown.server.client() as client:
        future = shown.begin(client, "run", code="1")
        shown.until(lambda: cards(shown))
        shown.panel.close()
        assert shown.wait(future)["error"]["code"] == REFUSED_BY_ARTIST
    assert not shown.ran


def test_a_client_from_another_machine_is_approved_where_questions_are(shown: Any) -> None:
    book = ClientBook()
    entry, _ = book.make("ada")
    book.ask(entry.id, "10.0.0.7", "")
    shown.until(lambda: cards(shown))
    assert reads(shown.panel.banner, "ada asks to connect from another machine")
    show_consent(shown)
    (card,) = cards(shown)
    assert reads(card, "ada asks to connect from another machine")
    assert "10.0.0.7" in card.text.toPlainText()
    assert entry.fingerprint in card.text.toPlainText()
    assert [card.once.text(), card.session.isVisible(), card.more.isVisible()] == [
        "Approve",
        False,
        False,
    ]
    shown.click(card.once)
    shown.until(lambda: not cards(shown))
    assert [one.remote for one in ClientBook().all()] == [True]
