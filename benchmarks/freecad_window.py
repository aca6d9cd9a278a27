"""Tests FreeCAD's real window for half an hour, while three clients and an artist act at random.

    python benchmarks/freecad_window.py [--seconds 1800] [--seed N]

The clients read, change, undo, open, ask and cancel. The artist turns the view, opens menus and
dialogs, drags an object, changes themes, and closes the panel's dock. In every other round the
artist also adds, deletes and undoes, and makes and closes documents. In the other rounds, there
must be an undo step for each drag. ``window_clients.py`` describes the other requirements.

Needs FreeCAD, Xvfb and xdotool.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import window_clients
from window_clients import DIARY, Agent, Window, Wrong, note

from hosts.blender_gui_rig import screen
from hosts.freecad_rig import MOVER, THEMES, FreeCAD, freecad
from needed import missing

#: The artist's keys, with one act on each line. ``>`` moves the mouse over the view, ``<`` clicks
#: there. The other names are methods of ``Artist``.
HARMLESS = (
    "> >",
    "> <",
    "turn",
    "alt+e Escape",
    "alt+v Down Escape Escape",
    "ctrl+o Escape",
    "> < ctrl+a Escape",
    "> < 0",
    "> < 1",
    "drag",
    "drag",
    "theme",
    "dock",
    "tab",
    "task Escape",
)
CHANGING = (
    *HARMLESS,
    "> < ctrl+z",
    "> < ctrl+shift+z",
    "> < ctrl+a Delete",
    "> < ctrl+shift+r",
    "box",
    "new",
    "shut",
    "switch",
)
SCENE = """
def told(o):
    place = [round(part, 4) for part in o.Placement.Matrix.A]
    sizes = [round(part, 4) for part in (o.Shape.BoundBox.DiagonalLength, o.Shape.Volume)]
    return [o.TypeId, place, sizes, [round(part, 4) for part in o.ViewObject.ShapeColor[:3]]]
answer = {o.Label: told(o) for o in FreeCAD.ActiveDocument.Objects}
"""
PLACES = "answer = {o.Label: [*o.Shape.BoundBox.Center] for o in FreeCAD.ActiveDocument.Objects}"
SAVED = """
FreeCAD.newDocument("Saved")
for name, x in (("Cube", 0), ("Dragged", 50)):
    one = FreeCAD.ActiveDocument.addObject("Part::Box", name)
    one.Placement.Base.x = x
FreeCAD.ActiveDocument.recompute()
FreeCAD.ActiveDocument.saveAs({path!r})
"""
VIEW = """
area = FreeCADGui.getMainWindow().centralWidget()
view = area.currentSubWindow() or area
at = view.mapToGlobal(QtCore.QPoint(0, 0))
answer = [at.x(), at.y(), view.width(), view.height()]
"""
LET_GO = """
FreeCADGui.Control.closeDialog()
answer = QtWidgets.QApplication.activeModalWidget() is None
"""
#: Keeps a diary of FreeCAD's documents.
WATCH = """
import time
diary = []
class Watch:
    pass
def watching(what):
    def slot(self, one, *more):
        name = getattr(one, "Label", None) or getattr(one, "Name", one)
        diary.append((time.time(), f"FreeCAD: {what} {name} {' '.join(map(str, more))}"))
        del diary[:-200]
    return slot
for what in ("CreatedDocument", "DeletedDocument", "ActivateDocument", "DeletedObject",
             "CreatedObject", "UndoDocument", "RedoDocument", "OpenTransaction",
             "CommitTransaction", "AbortTransaction", "StartOpenDocument", "FinishOpenDocument"):
    setattr(Watch, f"slot{what}", watching(what))
watch = Watch()
FreeCAD.addDocumentObserver(watch)
"""
STATE = """
document = FreeCAD.ActiveDocument
answer = {
    "documents": [*FreeCAD.listDocuments()],
    "active": document and [document.Name, document.FileName, document.UndoNames],
    "dialog": str(QtWidgets.QApplication.activeModalWidget()),
    "popup": str(QtWidgets.QApplication.activePopupWidget()),
    "diary": diary,
}
"""
CLOSE_ALL = "for name in [*FreeCAD.listDocuments()]: FreeCAD.closeDocument(name)"


class FreeCADAgent(Agent):
    saved = "saved.FCStd"
    pause = 0.8
    asking = {  # noqa: RUF012
        "name": "scene__save_file",
        "arguments": {"path": str(Path(tempfile.gettempdir()) / "asked.FCStd")},
    }

    def harmless(self) -> None:
        act = self.chance.randrange(3)
        if act == 0:
            self.ask()
        elif act == 1:
            self.call("scene__list_objects")
        else:
            self.check()


class Artist:
    def __init__(self, app: FreeCAD, chance: random.Random) -> None:
        self.app, self.chance = app, chance
        self.drags, self.wild = 0, False
        themes = [path.read_text("utf-8") for path in sorted(THEMES.glob("*.qss"))]
        self._themes = ["", *themes]
        app.run(MOVER)
        self._mover = app.run("answer = middle(mover)")

    def act(self, wild: bool) -> None:
        self.wild = wild
        act = self.chance.choice(CHANGING if wild else HARMLESS)
        note(f"the artist: {act}")
        for word in act.split():
            if word == ">":
                left, top, width, height = self._view()
                at = (
                    left + int(width * self.chance.uniform(0.7, 0.9)),
                    top + int(height * self.chance.uniform(0.3, 0.7)),
                )
                self.app.xdotool("mousemove", *map(str, at))
            elif word == "<":
                self.app.xdotool("click", "1")
            elif hasattr(self, word):
                getattr(self, word)()
            else:
                self.app.key(word)
            self.app.run("")

    def _view(self) -> list[int]:
        """Return the position and the size of the view on the screen. ``MOVER`` covers its left
        part. Below it are the documents' tabs, and a click on one of them may close the document.
        """
        place: list[int] = self.app.run(VIEW)
        return place

    def turn(self) -> None:
        left, top, width, height = self._view()
        x, y = left + width * 4 // 5, top + height // 2
        self.app.xdotool("mousemove", str(x), str(y), "mousedown", "2")
        for step in range(1, 4):
            self.app.xdotool("mousemove", str(x + 9 * step), str(y + 5 * step))
            self.app.run("")
        self.app.xdotool("mouseup", "2")

    def drag(self) -> None:
        x, y = self._mover
        before = self.app.run("answer = [mover.begun, mover.moves]")
        self.app.xdotool("mousemove", str(x), str(y), "mousedown", "1")
        for step in range(1, 6):
            self.app.xdotool("mousemove", str(x + 5 * step), str(y))
            self.app.run("")
        self.app.xdotool("mouseup", "1")
        self.app.run("")
        begun, moves, held, names = self.app.run(
            "document = FreeCAD.ActiveDocument\n"
            "answer = [mover.begun, mover.moves, mover.held, document and document.UndoNames]"
        )
        # If a dialog opens, it ends the drag, because it gets the mouse.
        if begun > before[0] and moves > before[1] and not held and names:
            self.drags += 1
            # In a wild round a client may have opened the file again.
            if not self.wild and "Drag" not in names[:15]:
                raise Wrong(f"the drag has no undo step: {names}")

    def theme(self) -> None:
        theme = self.chance.choice(self._themes)
        self.app.run(f"QtWidgets.QApplication.instance().setStyleSheet({theme!r})")

    def dock(self) -> None:
        self.app.run("plug_in.dock.close()")
        self.app.run("plug_in.show_panel()")

    def tab(self) -> None:
        self.app.run(f"panel.tabs.setCurrentIndex({self.chance.randrange(5)})")

    def task(self) -> None:
        self.app.run(
            "class Task: form = QtWidgets.QWidget()\n"
            "FreeCADGui.Control.activeDialog() or FreeCADGui.Control.showDialog(Task())"
        )
        self.app.run("")
        self.app.run("FreeCADGui.Control.closeDialog()")

    def box(self) -> None:
        self.app.run("FreeCAD.ActiveDocument and FreeCADGui.runCommand('Part_Box')")

    def new(self) -> None:
        self.app.run("FreeCAD.newDocument()")

    def shut(self) -> None:
        self.app.run(
            "FreeCAD.ActiveDocument and FreeCAD.closeDocument(FreeCAD.ActiveDocument.Name)"
        )

    def switch(self) -> None:
        self.app.run(
            "names = [*FreeCAD.listDocuments()]\n"
            f"at = int({self.chance.random()} * len(names))\n"
            "names and FreeCAD.setActiveDocument(names[at])"
        )

    def let_go(self) -> None:
        self.app.xdotool("mouseup", "1", "mouseup", "2")
        self.app.wait(self._let_go, "the artist to let go")

    def _let_go(self) -> bool:
        self.app.key("Escape")
        return bool(self.app.run(LET_GO))


def fresh(app: FreeCAD, artist: Artist, agents: Sequence[Agent]) -> None:
    """Have a client open the saved scene, after every drag in the window has ended."""
    path = str(app.folder / FreeCADAgent.saved)
    for _ in range(20):
        artist.let_go()
        app.run(CLOSE_ALL)
        if agents[0].call("scene__open_file", path=path, discard_changes=True) is not None:
            break
    else:
        raise Wrong("the scene can't be opened, although nothing is being dragged")
    for agent in agents:
        agent.forget()


def fuzz(app: FreeCAD, seconds: float, seed: int) -> None:
    counted: Counter[str] = Counter()
    agents = [FreeCADAgent(app, x, random.Random(f"{seed} {x}"), counted) for x in "ABC"]
    artist = Artist(app, random.Random(f"{seed} artist"))
    window = Window(
        app,
        agents,
        act=artist.act,
        let_go=artist.let_go,
        fresh=lambda: fresh(app, artist, agents),
        scene=SCENE,
        places=PLACES,
        saved=frozenset({"Cube", "Dragged"}),
    )
    window.fresh()
    try:
        window_clients.fuzz(window, seconds, counted)
    finally:
        print(f"{artist.drags} drags")


def explain(app: FreeCAD) -> None:
    """Print what led to a failure."""
    print(app.output())
    if app.process.poll() is not None:
        print(f"FreeCAD ended with {app.process.returncode}")
        return
    state = app.run(STATE)
    for when, text in sorted([*DIARY, *map(tuple, state.pop("diary"))]):
        print(f"{when:.2f} {text}")
    print(state)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    arguments = parser.parse_args()
    for program in ("freecad", "Xvfb", "xdotool"):
        if reason := missing(program):
            print(reason)
            return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        screen() as display,
        freecad(Path(folder) / "window", display) as app,
    ):
        app.serve()
        app.run(WATCH)
        app.run("panel.link.controls.set_consent_policy('outside_roots', 'ask')")
        app.run(SAVED.format(path=str(app.folder / FreeCADAgent.saved)))
        version = app.run("answer = '.'.join(FreeCAD.Version()[:3])")
        print(f"# FreeCAD {version}, seed {arguments.seed}, {arguments.seconds:g} s", flush=True)
        try:
            fuzz(app, arguments.seconds, arguments.seed)
        except BaseException:
            explain(app)
            raise
        print("alive")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
