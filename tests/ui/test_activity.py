from __future__ import annotations

import os
import threading
from pathlib import Path
from time import time
from typing import Any

import pytest

from needed import need

need("qt")

from panel_rig import reads, texts
from qtpy.QtCore import QEvent, QPointF, Qt
from qtpy.QtGui import QMouseEvent
from qtpy.QtWidgets import QApplication

from callboard.errors import REFUSED_BY_ARTIST
from callboard.records.model import CallRecord
from callboard.records.store import Store
from callboard_testing.fake_host import DEADLINE
from callboard_testing.lint.skill_lint import lint
from callboard_ui.panel import ACTIVITY, ROOTS
from callboard_ui.save_run_dialog import SaveRunDialog

FEW = {"type": "object", "properties": {"colour": {"type": "string"}}}


def past(shown: Any) -> list[str]:
    return [row.tool for row in shown.panel.activity.model.past]


def test_a_call_shows_with_its_outcome_and_its_error_in_full(open_panel: Any) -> None:
    shown = open_panel(records=True)

    def fails(colour: str) -> str:
        raise ValueError(f"{colour} is no colour\nsecond line")

    shown.server.tool("paint", fails, FEW)
    with shown.server.client() as client:
        shown.call(client, "paint", colour="mauve")
        activity = shown.panel.activity
        shown.until(lambda: past(shown) == ["paint"])
        index = activity.model.index(0, 0)
        assert "failed" in index.data(Qt.ItemDataRole.AccessibleTextRole)
        shown.click_row(activity.view, index)
        shown.until(lambda: reads(activity.details, "mauve"))
        assert reads(activity.details, "second line")
        shown.click(activity.details.copy)
        assert "mauve is no colour" in QApplication.clipboard().text()


def test_a_running_call_shows_its_progress_and_is_cancelled_by_a_click(open_panel: Any) -> None:
    shown = open_panel(records=True)
    release = threading.Event()

    def slow(ctx: Any) -> str:
        ctx.progress(1, 4, "one of four")
        release.wait(20)
        ctx.check_cancelled()
        return "done"

    shown.server.tool("slow", slow, affinity="any")
    with shown.server.client() as client:
        future = shown.begin(client, "slow")
        activity = shown.panel.activity
        shown.until(lambda: activity.model.running and activity.model.running[0].share == 0.25)
        shown.click_row(activity.view, activity.model.index(0, 0))
        shown.until(lambda: reads(activity.details, "one of four"))
        shown.click(activity.details.cancel)
        error = shown.wait(future)["error"]
        assert error["code"] == REFUSED_BY_ARTIST
        release.set()
        shown.until(lambda: [row.state for row in activity.model.past] == ["refused"])
        assert not activity.model.running


def made(shown: Any) -> list[str]:
    """Return the bare names of the scene's objects."""
    return [n.rsplit("/")[-1] for n in shown.server.on_main(shown.server.host.scene.names)]


def lines(shown: Any) -> list[str]:
    """Return the list of calls, line by line."""
    model = shown.panel.activity.model
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def struck(shown: Any) -> list[bool]:
    """Return the lines that are struck out."""
    model = shown.panel.activity.model
    fonts = [model.index(row, 0).data(Qt.ItemDataRole.FontRole) for row in range(model.rowCount())]
    return [font is not None and font.strikeOut() for font in fonts]


def create(shown: Any, client: Any, *names: str) -> None:
    for name in names:
        shown.call(client, "scene__create_primitive", kind="cube", name=name)
    shown.until(lambda: lines(shown) == [f"created /{name}" for name in reversed(names)])


def test_a_change_is_said_in_words_and_what_else_ran_by_its_title(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        shown.call(client, "scene__create_primitive", kind="sphere", name="ball")
        shown.call(client, "scene__scene_info")
        shown.until(lambda: lines(shown) == ["Scene info", "created /ball"])
        shown.call(client, "scene__rename", name="ball", new_name="globe")
        shown.call(client, "scene__delete", names=["globe"])
        expected = ["deleted /globe", "renamed ball to /globe", "Scene info", "created /ball"]
        shown.until(lambda: lines(shown) == expected)


def test_the_newest_change_is_undone_by_a_click_and_marked(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first", "second")
        activity = shown.panel.activity
        shown.click_row(activity.view, activity.model.index(0, 0))
        assert activity.details.undo.text() == "Undo"
        shown.click(activity.details.undo)
        shown.until(lambda: "Undone" in texts(activity.details))
        shown.until(lambda: struck(shown) == [True, False])
        assert "undone" in activity.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert not activity.details.undo.isVisible()
        assert made(shown) == ["first"]


def test_an_older_change_is_undone_with_all_that_came_after_it(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first", "second", "third")
        activity = shown.panel.activity
        shown.click_row(activity.view, activity.model.index(1, 0))
        assert activity.details.undo.text() == "Undo back to here"
        shown.click(activity.details.undo)
        shown.until(lambda: struck(shown) == [True, True, False])
        assert reads(activity.details, "Undone, changes: 2")
        assert made(shown) == ["first"]


def test_an_agents_turn_is_taken_back_by_one_button(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        activity = shown.panel.activity
        assert not activity.turn.isEnabled()
        create(shown, client, "first", "second", "third")
        shown.until(lambda: activity.turn.text() == "Undo the last 3 changes")
        shown.click(activity.turn)
        shown.until(lambda: struck(shown) == [True, True, True])
        shown.until(lambda: reads(activity, "Undone, changes: 3"))
        shown.until(lambda: not activity.turn.isEnabled())
        assert made(shown) == []


def test_what_lies_under_somebody_elses_change_is_not_undone(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first", "second")
        host = shown.server.host

        def artist_makes_one() -> None:
            token = host.undo.begin("the artist's own")
            host.scene.create("cone", "mine", {})
            host.undo.commit(token)

        shown.server.on_main(artist_makes_one)
        activity = shown.panel.activity
        shown.click_row(activity.view, activity.model.index(1, 0))
        shown.click(activity.details.undo)
        shown.until(lambda: reads(activity.details, "Not undone: something else changed since"))
        assert made(shown) == ["first", "second", "mine"]
        assert struck(shown) == [False, False]


def test_what_a_call_changed_is_selected_in_the_scene(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first", "second")
        activity = shown.panel.activity
        shown.click_row(activity.view, activity.model.index(1, 0))
        shown.click(activity.details.select)
        shown.until(lambda: reads(activity.details, "Selected in the scene"))
        assert shown.server.on_main(shown.server.host.scene.selection) == ["/first"]
        shown.server.on_main(lambda: shown.server.host.scene.delete(["/first"]))
        shown.click(activity.details.select)
        shown.until(
            lambda: reads(activity.details, "none of the changed objects is still in the scene")
        )


def test_details_stand_beside_the_list_where_there_is_room_and_below_where_not(
    open_panel: Any,
) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first")
        activity = shown.panel.activity
        shown.click_row(activity.view, activity.model.index(0, 0))
        for width in (280, 1100, 280):
            shown.panel.resize(width, 640)
            beside = width == 1100

            def arranged(beside: bool = beside) -> bool:
                right = activity.view.mapTo(activity, activity.view.rect().topRight()).x()
                return (activity.details.x() > right) is beside

            shown.until(arranged)


def test_what_somebody_points_at_stays_under_the_pointer(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first")
        view = shown.panel.activity.view.viewport()

        def point() -> None:
            at = QPointF(20, 10)
            none, nothing = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
            moved = QMouseEvent(QEvent.Type.MouseMove, at, at, none, none, nothing)
            QApplication.sendEvent(view, moved)

        def ended() -> bool:
            point()
            return bool(shown.panel.link.controls.status.snapshot.ended_calls == 2)

        point()
        call = shown.begin(client, "scene__create_primitive", kind="cube", name="second")
        shown.until(ended)
        point()
        QApplication.processEvents()
        assert lines(shown) == ["created /first"]
        assert "result" in shown.wait(call)
        QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
        shown.until(lambda: lines(shown) == ["created /second", "created /first"])


def test_changes_only_leaves_out_what_only_read(open_panel: Any) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        shown.call(client, "scene__scene_info")
        shown.call(client, "scene__create_primitive", kind="cube", name="box")
        activity = shown.panel.activity
        shown.until(lambda: len(past(shown)) == 2)
        activity.outcome.setFocus()
        shown.press(activity.outcome, Qt.Key.Key_End)
        assert activity.outcome.currentText() == "Changes only"
        shown.until(lambda: lines(shown) == ["created /box"])
        shown.call(client, "scene__create_primitive", kind="cube", name="lid")
        shown.call(client, "scene__scene_info")
        shown.until(lambda: lines(shown) == ["created /lid", "created /box"])
        shown.qtbot.keyClicks(activity.search, "box")
        shown.until(lambda: lines(shown) == ["created /box"])
        activity.search.clear()
        shown.press(activity.outcome, Qt.Key.Key_Home)
        shown.until(lambda: len(lines(shown)) == 4)


def test_calls_of_another_process_stand_apart_and_offer_no_undo(open_panel: Any, home: Any) -> None:
    store = Store(home / "records")
    store.open()
    # The other host's step has the same id as the first step here, so undoing it here would undo
    # something else.
    store.record(CallRecord("theirs", time() - 60, 1.0, "scene__delete", "ok", undo_id="undo-1"))
    assert store.flush(20)
    store.close()
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        shown.call(client, "scene__create_primitive", kind="cube", name="box")
        shown.until(lambda: lines(shown) == ["created /box", "Delete objects"])
        activity = shown.panel.activity
        theirs = activity.model.index(1, 0)
        assert "another process" in theirs.data(Qt.ItemDataRole.AccessibleTextRole)
        assert theirs.data(Qt.ItemDataRole.FontRole).italic()
        shown.click_row(activity.view, theirs)
        shown.until(lambda: reads(activity.details, "Delete objects"))
        assert not activity.details.undo.isVisible()
        assert not activity.details.select.isVisible()
        shown.click_row(activity.view, activity.model.index(0, 0))
        shown.until(activity.details.undo.isVisible)
        assert made(shown) == ["box"]


def test_a_call_that_ended_while_its_row_kept_still_is_opened(open_panel: Any) -> None:
    shown = open_panel(records=True)
    go_on = threading.Event()
    shown.server.tool("paint", lambda: None)
    shown.server.tool("hold", lambda: go_on.wait(DEADLINE), affinity="any")
    activity = shown.panel.activity
    with shown.server.client() as client:
        shown.call(client, "paint")
        shown.until(lambda: past(shown) == ["paint"])
        waits = shown.begin(client, "hold")
        shown.until(lambda: lines(shown) == ["hold", "paint"])
        shown.click_row(activity.view, activity.model.index(1, 0))
        shown.until(lambda: reads(activity.details, "paint"))
        first = activity.model.index(0, 0)
        shown.qtbot.mouseMove(activity.view.viewport(), activity.view.visualRect(first).center())
        go_on.set()
        shown.wait(waits)
        shown.until(lambda: not shown.server.app.controls.status.snapshot.calls)
        shown.click_row(activity.view, activity.model.index(0, 0))
        shown.until(lambda: reads(activity.details, "hold"))


def test_typing_filters_and_the_list_says_when_nothing_matches(open_panel: Any) -> None:
    shown = open_panel(records=True)
    shown.server.tool("paint", lambda **given: "painted", {"type": "object"})
    shown.server.tool("move", lambda **given: "moved", {"type": "object"})
    with shown.server.client() as client:
        shown.call(client, "paint", colour="teal")
        shown.call(client, "move", by="two")
        activity = shown.panel.activity
        shown.until(lambda: len(past(shown)) == 2)
        shown.qtbot.keyClicks(activity.search, "teal")
        shown.until(lambda: past(shown) == ["paint"])
        shown.qtbot.keyClicks(activity.search, "x")
        shown.until(lambda: "No call matches." in texts(activity))
        activity.search.clear()
        shown.until(lambda: len(past(shown)) == 2)
        shown.press(activity.outcome, Qt.Key.Key_Down)
        shown.press(activity.outcome, Qt.Key.Key_Down)
        assert activity.outcome.currentText() == "Failed"
        shown.until(lambda: past(shown) == [])


def test_thousands_of_calls_are_there_and_fetched_as_one_scrolls(
    open_panel: Any, home: Any
) -> None:
    store = Store(home / "records")
    store.open()
    for number in range(3000):
        store.record(CallRecord(f"id-{number:05}", time() - 5000 + number, 1.0, f"t{number}", "ok"))
    assert store.flush(20)
    store.close()
    shown = open_panel(records=True)
    activity = shown.panel.activity
    shown.until(lambda: len(past(shown)) >= 200)
    assert past(shown)[0] == "t2999"
    assert len(past(shown)) < 1000

    def at_the_end() -> bool:
        shown.press(activity.view, Qt.Key.Key_End)
        return past(shown)[-1] == "t0"

    shown.until(at_the_end)
    assert past(shown) == [f"t{number}" for number in range(2999, -1, -1)]
    # An artist who is reading further down isn't disturbed by new calls.
    shown.server.tool("fresh", lambda: "new", {"type": "object"})
    with shown.server.client() as client:
        shown.call(client, "fresh")
        shown.until(lambda: not activity.newer.isHidden())
        assert past(shown)[0] == "t2999"
        shown.click(activity.newer)
        shown.until(lambda: past(shown)[0] == "fresh")


def test_a_root_on_a_dead_mount_holds_up_no_activity(
    open_panel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, asked, released = tmp_path / "dead", threading.Event(), threading.Event()
    dead.mkdir()
    listed = os.scandir

    def never(path: Any = ".") -> Any:
        """Block, as a read from a disk that doesn't respond does."""
        if str(path) == str(dead):
            asked.set()
            released.wait(60)
        return listed(path)

    monkeypatch.setattr(os, "scandir", never)
    shown = open_panel(records=True, roots=[str(dead)])
    try:
        shown.turn_to(ROOTS)
        shown.until(asked.is_set)
        shown.turn_to(ACTIVITY)
        shown.server.tool("paint", lambda colour: f"{colour} it is", FEW)
        with shown.server.client() as client:
            shown.call(client, "paint", colour="mauve")
            activity = shown.panel.activity
            shown.until(lambda: past(shown) == ["paint"])
            shown.click_row(activity.view, activity.model.index(0, 0))
            shown.until(lambda: reads(activity.details, "mauve"))
        assert not released.is_set()
    finally:
        released.set()


def test_without_records_only_what_runs_shows(open_panel: Any) -> None:
    shown = open_panel(records=False)
    assert reads(shown.panel.activity, "aren't recorded")
    release = threading.Event()
    shown.server.tool("slow", lambda: release.wait(20) and None, affinity="any")
    with shown.server.client() as client:
        future = shown.begin(client, "slow")
        model = shown.panel.activity.model
        shown.until(lambda: [row.tool for row in model.running] == ["slow"])
        release.set()
        shown.wait(future)
        shown.until(lambda: model.rowCount() == 0)
    assert shown.panel.tabs.currentIndex() == ACTIVITY


def test_selected_calls_are_saved_as_a_workflow(open_panel: Any, tmp_path: Path) -> None:
    shown = open_panel(records=True, skills=True)
    with shown.server.client() as client:
        create(shown, client, "first", "second", "third")
        shown.call(client, "scene__transform", name="second", translate=[0, 2, 0])
        shown.until(lambda: len(lines(shown)) == 4)
    view, model = shown.panel.activity.view, shown.panel.activity.model
    shown.click_row(view, model.index(0, 0))
    shown.qtbot.mouseClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ControlModifier,
        view.visualRect(model.index(2, 0)).center(),
    )
    view.customContextMenuRequested.emit(view.visualRect(model.index(2, 0)).center())
    assert view.menu.isVisible()
    assert view.save_run.isEnabled()
    view.menu.hide()
    view.save_run.trigger()
    dialog = shown.panel.findChild(SaveRunDialog)
    shown.until(lambda: dialog.folder.text())
    assert not dialog.save.isEnabled()
    dialog.folder.setText(str(tmp_path))
    shown.qtbot.keyClicks(dialog.name, "Raise It")
    shown.click(dialog.save)
    shown.until(lambda: reads(dialog, "can't be a skill's name"))
    dialog.name.setText("raise-it")
    shown.click(dialog.save)
    shown.until(lambda: reads(dialog, "raise-it, steps: 2."))
    assert lint(tmp_path / "raise-it") == []
    text = (tmp_path / "raise-it" / "raise_it.workflow.yaml").read_text("utf-8")
    assert "{{create_primitive.created.0}}" in text
    assert "third" not in text
    dialog.close()
