"""Tests callboard in FreeCAD, a real Qt application, with the host of ``examples/host/freecad``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from callboard.errors import HOST_OFFLINE, REFUSED_BY_ARTIST
from hosts.blender_gui_rig import DEADLINE, screen
from hosts.freecad_rig import MOVER, THEMES, FreeCAD, freecad
from needed import needs

LEGIBLE = 4.5

pytestmark = [pytest.mark.slow, needs("freecad", "Xvfb", "xdotool")]

#: An object that runs Qt's loop while it is recomputed, as FreeCAD's own long work does.
_SLOW = """
class Slow:
    def __init__(self, one):
        one.Proxy, self.seen = self, []
    def execute(self, one):
        ends = QtCore.QElapsedTimer()
        ends.start()
        while not ends.hasExpired(1500):
            QtWidgets.QApplication.processEvents()

slow = FreeCAD.ActiveDocument.addObject("App::FeaturePython", "Slow")
Slow(slow)
"""


#: A prism, which isn't one of callboard's primitives, and another document.
_SAMPLES = """
from callboard_testing.checks.samples import DOCUMENT, OBJECT
from callboard_testing.compliance import run_all

def prism(bench):
    one = FreeCAD.ActiveDocument.addObject("Part::Prism", "Prism")
    FreeCAD.ActiveDocument.recompute()
    return f"/{one.Label}"

samples = {OBJECT: prism, DOCUMENT: lambda bench: FreeCAD.newDocument().Name}
checks = run_all(plug_in.server.host, samples=samples)
"""


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], FreeCAD]]:
    """Yield a function that returns the FreeCAD of all tests, or a new one if it hangs."""
    with screen() as display, ExitStack() as stack:
        apps: list[FreeCAD] = []

        def in_use() -> FreeCAD:
            with suppress(IndexError, AssertionError, TimeoutError):
                apps[-1].run("", seconds=20)
                return apps[-1]
            stack.pop_all().close()
            app = stack.enter_context(freecad(tmp_path_factory.mktemp("freecad") / "home", display))
            app.serve()
            app.run("panel.link.controls.set_consent_policy('destructive', 'ask')")
            apps.append(app)
            return app

        yield in_use


@pytest.fixture
def app(working: Callable[[], FreeCAD]) -> Iterator[FreeCAD]:
    shared = working()
    shared.run("plug_in.show_panel()")
    shared.new_document()
    yield shared
    shared.xdotool("mouseup", "1")


def test_the_contract_holds(app: FreeCAD) -> None:
    """Each check runs in its own turn of the loop, and FreeCAD draws its views in between."""
    app.run(_SAMPLES)
    step = "one = next(checks, None)\nanswer = one and (one[0].id, one[1], one[2][-2000:])"
    outcomes: list[Any] = []
    while (outcome := app.run(step)) is not None:
        outcomes.append(outcome)
    assert [outcome for outcome in outcomes if outcome[1] == "failed"] == []
    assert sum(outcome[1] == "ok" for outcome in outcomes) >= 40
    done = {outcome[0].partition(".")[0] for outcome in outcomes if outcome[1] == "ok"}
    assert done >= {"Undo", "SceneFile", "OwnObjects", "OwnObjectsInFiles", "Documents"}


def test_a_change_waits_for_the_drag_which_stays_undoable(app: FreeCAD) -> None:
    app.run(
        "FreeCAD.ActiveDocument.addObject('Part::Box', 'Dragged')\n"
        "FreeCAD.ActiveDocument.recompute()"
    )
    app.run(MOVER)
    x, y = app.run("answer = middle(mover)")
    with app.client() as client:
        app.xdotool("mousemove", str(x), str(y), "mousedown", "1")
        app.xdotool("mousemove", str(x + 10), str(y))
        app.wait(lambda: app.run("answer = FreeCAD.ActiveDocument.HasPendingTransaction"), "drag")
        change = client.in_thread(lambda: client.call("scene__create_primitive", {"kind": "cube"}))
        held = "answer = panel.header.state.text()"
        app.wait(lambda: "mouse button" in app.run(held), "the call on hold")
        assert client.call("scene__list_objects")["structuredContent"]["total"] == 1
        app.xdotool("mousemove", str(x + 20), str(y))
        app.xdotool("mouseup", "1")
        assert change.result(60)["structuredContent"]["verified"] is True
    app.run("mover.deleteLater()")
    names = app.run("answer = FreeCAD.ActiveDocument.UndoNames")
    assert names[1] == "Drag"
    assert app.run(
        "document = FreeCAD.ActiveDocument\n"
        "moved = document.Dragged.Placement.Base.x\n"
        "document.undo(); document.undo()\n"
        "answer = [moved > 0, document.Dragged.Placement.Base.x]"
    ) == [True, 0]


def test_a_call_waits_for_a_dialog_and_its_title_is_shown(app: FreeCAD) -> None:
    app.run(
        "dialog = QtWidgets.QDialog(FreeCADGui.getMainWindow())\n"
        "dialog.setWindowTitle('Choose a face')\n"
        "QtCore.QTimer.singleShot(0, dialog.exec_)"
    )
    app.wait(lambda: app.run("answer = dialog.isVisible()"), "dialog")
    with app.client() as client:
        token = {"_meta": {"progressToken": "t"}}
        call = client.in_thread(lambda: client.call("scene__scene_info", **token))
        (waits,) = client.wait_for("notifications/progress")
        assert waits["params"]["message"] == "waiting: busy with Choose a face"
        blocked = "answer = plug_in.server.host.blocked_by()"
        app.wait(lambda: app.run(blocked) == "Choose a face", "the dialog's title")
        assert not call.done()
        app.run("dialog.reject()")
        assert call.result(60)["isError"] is False


def test_a_change_waits_for_an_open_task_panel(app: FreeCAD) -> None:
    app.run(
        "class Task: form = QtWidgets.QWidget()\n"
        "Task.form.setWindowTitle('Fillet')\n"
        "task = FreeCADGui.Control.showDialog(Task())"
    )
    with app.client() as client:
        change = client.in_thread(lambda: client.call("scene__create_primitive", {"kind": "cube"}))
        held = "answer = panel.header.state.text()"
        app.wait(lambda: "task panel" in app.run(held), "the call on hold")
        assert client.call("scene__list_objects")["structuredContent"]["total"] == 0
        app.run("FreeCADGui.Control.closeDialog()")
        assert change.result(60)["structuredContent"]["verified"] is True


def test_no_call_lands_in_the_middle_of_a_recompute(app: FreeCAD) -> None:
    app.run(_SLOW)
    with app.client() as client:
        app.run(
            "FreeCAD.ActiveDocument.Slow.touch()\n"
            "during = []\n"
            "scene = plug_in.server.host.ports['scene.read']\n"
            "read = type(scene).info\n"
            "def noted(self):\n"
            "    during.append(FreeCAD.ActiveDocument.Recomputing)\n"
            "    return read(self)\n"
            "type(scene).info = noted\n"
            "QtCore.QTimer.singleShot(0, FreeCAD.ActiveDocument.recompute)"
        )
        app.wait(lambda: app.run("answer = FreeCAD.ActiveDocument.Recomputing"), "recompute")
        assert client.call("scene__scene_info")["isError"] is False
    assert app.run("type(scene).info = read\nanswer = any(during)") is False


def test_escape_held_ends_a_call_that_never_ends(app: FreeCAD) -> None:
    # The panel reads the selection, too, in turns of its own and outside any.
    app.run(
        "main = plug_in.server.dispatcher.main\n"
        "scene = type(plug_in.server.host.ports['scene.read'])\n"
        "read = scene.selection\n"
        "def endless(self):\n"
        "    while getattr(main.running, 'name', '') == 'scene__get_selection': pass\n"
        "    return read(self)\n"
        "scene.selection = endless"
    )
    app.key()
    with app.client() as client:
        call = client.start("tools/call", {"name": "scene__get_selection", "arguments": {}})
        app.xdotool("keydown", "Escape")
        try:
            answer = call.result(DEADLINE)
        finally:
            app.xdotool("keyup", "Escape")
    assert answer["error"]["code"] == REFUSED_BY_ARTIST, answer
    app.run("scene.selection = read")


def test_documents_are_closed_and_none_is_left(app: FreeCAD) -> None:
    with app.client() as client:
        client.call("scene__create_primitive", {"kind": "cube", "name": "Lost"})
        app.run("FreeCAD.newDocument('Other')")
        assert client.call("scene__list_objects")["structuredContent"]["total"] == 0
        app.run("FreeCAD.closeDocument('Other')\nFreeCAD.closeDocument('Test')")
        assert client.call("scene__scene_info")["structuredContent"]["object_count"] == 0
        missing = client.call("scene__get_object", {"name": "Lost"})
        assert "no object named 'Lost'" in missing["content"][0]["text"]
        made = client.call("scene__create_primitive", {"kind": "sphere", "name": "New"})
        assert made["structuredContent"]["verified"] is True


@pytest.mark.parametrize("how", ["closed", "behind another dock"])
def test_a_question_comes_back_when_its_dock_goes(app: FreeCAD, how: str) -> None:
    app.run(
        "window = FreeCADGui.getMainWindow()\n"
        "other = QtWidgets.QDockWidget('Other', window)\n"
        "other.setWidget(QtWidgets.QTextEdit())\n"
        "window.addDockWidget(QtCore.Qt.RightDockWidgetArea, other)\n"
        "window.tabifyDockWidget(plug_in.dock, other)\n"
        "plug_in.show_panel()"
    )
    with app.client() as client:
        client.call("scene__create_primitive", {"kind": "cube", "name": "Wanted"})
        asking = {"name": "scene__delete", "arguments": {"name": "Wanted"}}
        call = client.start("tools/call", asking)
        asked = (
            "questions = panel.link.controls.status.snapshot.questions\n"
            "answer = [len(questions), panel.notice.isVisible()]"
        )
        app.wait(lambda: app.run(asked) == [1, False], "the question in the panel")
        app.run("plug_in.dock.close()" if how == "closed" else "other.raise_()")
        app.wait(lambda: app.run(asked) == [1, True], "the question in its own window")
        app.run("plug_in.show_panel()")
        app.wait(lambda: app.run(asked) == [1, False], "the question in the panel again")
        question = "panel.link.controls.status.snapshot.questions[0].id"
        app.run(f"panel.link.controls.answer({question}, 'refuse')")
        assert call.result(60)["error"]["code"] == REFUSED_BY_ARTIST
    app.run("other.close()\nother.deleteLater()")


@pytest.mark.parametrize("theme", ["none", *sorted(p.stem for p in THEMES.glob("*.qss"))])
def test_the_panel_is_readable_under_each_theme(app: FreeCAD, theme: str) -> None:
    sheet = "" if theme == "none" else (THEMES / f"{theme}.qss").read_text("utf-8")
    with app.client() as client:
        client.call("scene__create_primitive", {"kind": "cube", "name": "Wanted"})
        asking = {"name": "scene__delete", "arguments": {"name": "Wanted"}}
        call = client.start("tools/call", asking)
        asked = "answer = len(panel.link.controls.status.snapshot.questions)"
        app.wait(lambda: app.run(asked), "question")
        app.run(f"QtWidgets.QApplication.instance().setStyleSheet({sheet!r})")
        texts = app.run("answer = least(panel)")
        app.run("QtWidgets.QApplication.instance().setStyleSheet('')")
        question = "panel.link.controls.status.snapshot.questions[0].id"
        app.run(f"panel.link.controls.answer({question}, 'refuse')")
        call.result(60)
    assert len(texts) > 20
    assert texts[0][0] >= LEGIBLE, texts[:3]


def test_the_self_test_finds_no_fault(app: FreeCAD) -> None:
    """During the self-test, the window is covered and minimized, and an artist's dialog is open."""
    app.run(
        "import asyncio\n"
        "from callboard.selftest import checks\n"
        "checks.SLOW, checks.REPORTED = 60, 5\n"
        "menus = {each.text() for each in FreeCADGui.getMainWindow().menuBar().actions()}\n"
        "only = ('primitives', 'undo_reports', 'dialog')\n"
        "running = panel.link.controls.self_test.run(discard=True, only=only)\n"
        "told = asyncio.run_coroutine_threadsafe(running, plug_in.server.guest.loop)"
    )
    app.wait(lambda: app.run("answer = told.done()"), "the self-test", seconds=280)
    assert app.run("answer = 'Callboard' in menus")
    for check in app.run("answer = told.result()['checks']"):
        if check["name"] in ("primitives", "undo_reports", "dialog"):
            assert check["outcome"] == "ok", check
    assert app.run("answer = FreeCAD.ActiveDocument.Objects == []")


def test_high_dpi_and_quitting_with_clients(tmp_path: Any) -> None:
    with screen() as display, freecad(tmp_path / "home", display, QT_SCALE_FACTOR="2") as app:
        app.serve()
        app.new_document()
        # Half of this screen would leave the panel no room in its dock.
        app.run("plug_in.dock.setFloating(True)\nplug_in.dock.resize(400, 380)")
        assert app.run("answer = panel.grab().devicePixelRatio()") >= 2
        texts = app.run("answer = least(panel)")
        assert texts[0][0] >= LEGIBLE, texts[:3]
        app.run(
            "dialog = QtWidgets.QDialog(FreeCADGui.getMainWindow())\n"
            "QtCore.QTimer.singleShot(0, dialog.exec_)"
        )
        app.wait(lambda: app.run("answer = dialog.isVisible()"), "dialog")
        with app.client() as client:
            client.listen()
            call = client.start("tools/call", {"name": "scene__scene_info", "arguments": {}})
            waits = "answer = len(plug_in.server.dispatcher.calls)"
            app.wait(lambda: app.run(waits), "the call")
            app.send("dialog.reject()\nplug_in.unload()\nFreeCADGui.getMainWindow().close()")
            answer = call.result(60)
            waiting, closing = client.wait_for("notifications/message", 2)
        assert waiting["params"]["data"] == "waiting: busy with QDialog"
        assert "the application is closing" in closing["params"]["data"]
        assert answer["error"]["code"] == HOST_OFFLINE
        assert "the application is closing" in answer["error"]["message"]
        assert app.process.wait(60) == 0
