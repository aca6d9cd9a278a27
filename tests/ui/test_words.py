"""The large panel uses the same words as every other panel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from needed import need

need("qt")

from panel_rig import reads

from callboard.calls.capabilities import VOCABULARY
from callboard.panel.status import CallStatus, ClientStatus, QuestionStatus, Snapshot, ToolStatus
from callboard_ui import texts
from callboard_ui.banner import Banner
from callboard_ui.consent_card import ConsentCard
from callboard_ui.header import Header

CLIENT = ClientStatus("1", "claude", "2.1", "2025-11-25")
CALL = CallStatus("1", "scene__delete", "claude", "running", 0.0)
QUESTION = QuestionStatus("1", "script__execute", "claude", "script", "because", {}, 0.0)
TOOL = ToolStatus("script__execute", "", None, title="Run a script")
SERVING = Snapshot(serving=True, host_name="Blender", url="http://127.0.0.1:1/mcp")
SNAPSHOTS = {
    "starting": Snapshot(),
    "ended": replace(SERVING, serving=False),
    "serving": SERVING,
    "unkept": replace(SERVING, not_kept="calls aren't recorded in /home (the disk is full)"),
    "paused": replace(SERVING, paused=True),
    "stopped": replace(SERVING, paused=True, stopped=3),
    "stalled": replace(SERVING, stalled_ms=2345, stalled_by="rendering"),
    "hardly stalled": replace(SERVING, stalled_ms=900),
    "asked": replace(SERVING, questions=(QUESTION,), clients=(CLIENT,)),
    "asked twice": replace(SERVING, questions=(QUESTION, QUESTION), clients=(CLIENT, CLIENT)),
    "busy": replace(SERVING, calls=(CALL,)),
    "held": replace(SERVING, calls=(replace(CALL, held_by="dragging Cube"),)),
    "titles": replace(SERVING, questions=(QUESTION,), tools=(TOOL,)),
    "busy with a title": replace(SERVING, calls=(replace(CALL, tool=TOOL.name),), tools=(TOOL,)),
    "busier": replace(SERVING, calls=(CALL, CALL, CALL)),
}


@pytest.mark.parametrize("shown", SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_states_clients_and_questions_are_said_alike(qtbot: Any, shown: Snapshot) -> None:
    header, banner = Header(cast(Any, None), lambda: None), Banner(lambda: None)
    qtbot.addWidget(header)
    qtbot.addWidget(banner)
    header.show_snapshot(shown)
    banner.show_snapshot(shown)
    assert texts.state(shown).text == header.state.text()
    assert texts.clients(shown) == header.clients.text()
    assert texts.waiting(shown) == banner.text.text()


def test_what_is_not_kept_is_in_the_tooltip(qtbot: Any) -> None:
    header = Header(cast(Any, None), lambda: None)
    qtbot.addWidget(header)
    header.show_snapshot(SNAPSHOTS["unkept"])
    assert header.state.text() == "Serving, but not everything is kept"
    assert "the disk is full" in header.state.toolTip()
    header.show_snapshot(SERVING)
    assert "the disk is full" not in header.state.toolTip()


@pytest.mark.parametrize("subject", ["script", "destructive", "outside_roots", "another"])
def test_reasons_are_said_alike(qtbot: Any, subject: str) -> None:
    question = replace(QUESTION, subject=subject)
    card = ConsentCard(question, lambda question, answer: None)
    qtbot.addWidget(card)
    card.show()
    assert reads(card, f"script__execute {texts.reason(question)}.")


def test_every_capability_has_a_name_in_one_area() -> None:
    named = [name for _, titles in texts.AREAS for name in titles]
    assert sorted(named) == sorted(VOCABULARY)
    assert len(set(texts.CAPABILITIES.values())) == len(named)


def test_a_question_about_code_over_a_file_names_the_files() -> None:
    asked = "runs code of its own in this application"
    assert texts.reason(replace(QUESTION, why=asked)) == asked
    # A file's name hides nothing.
    for file in ("/a.blend", f"/{asked}.blend", f"/{asked}, deletes or replaces things.blend"):
        why = f"runs code of its own over the file {file} on disk, and saves nothing"
        over = replace(QUESTION, tool="script_on_file__execute", why=why)
        assert texts.reason(over) == why
