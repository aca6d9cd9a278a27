"""An agent's calls while the artist works in Blender's real user interface."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from callboard.errors import REFUSED_BY_ARTIST
from callboard.ground.png import png_size
from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import (
    DEADLINE,
    OVER_THE_VIEW,
    PERMIT,
    Gui,
    in_background,
    missing,
    render,
)

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class _Asked:
    """A call in its own thread, by its own client."""

    def __init__(self, gui: Gui, tool: str, **arguments: Any) -> None:
        self.answer: dict[str, Any] = {}
        client = gui.client()

        def ask() -> None:
            with client:
                self.answer = client.request("tools/call", {"name": tool, "arguments": arguments})

        self.wait: Callable[[], None] = in_background(ask)


def waiting(gui: Gui) -> Callable[[], Any]:
    """Return a function that returns the message of the waiting call."""
    code = (
        "from callboard_blender import addon\n"
        "calls = addon.residence.app.dispatcher.calls.values()\n"
        "answer = [c.latest_progress[2] for c in calls if c.latest_progress[2]]"
    )
    return lambda: gui.run(code)


#: Code like that of other add-ons. The list that it reads has existed since Blender 4.2.
READER = """
for window in bpy.context.window_manager.windows:
    read = [*getattr(window, "modal_operators", ())]
"""
DRAG = "with artist(): bpy.ops.transform.translate('INVOKE_DEFAULT')"


@pytest.mark.parametrize(
    ("act", "doing"),
    [
        (lambda gui: gui.run(DRAG), "dragging Cube"),
        (lambda gui: gui.key("g"), "dragging Cube"),
        (lambda gui: (gui.key("g"), gui.run(READER)), "dragging Cube"),
        (lambda gui: gui.key("F2"), "text field"),
        (lambda gui: gui.key("shift+a"), "menu"),
    ],
    ids=["drag", "g", "read", "F2", "menu"],
)
def test_what_the_artist_holds_is_deleted_when_it_is_let_go(
    gui: Gui, client: FakeClient, act: Callable[[Gui], None], doing: str
) -> None:
    act(gui)
    asked = _Asked(gui, "scene__delete", names=["Cube"])
    words = gui.wait(waiting(gui), "the call that waits")
    assert doing in words[0], words
    assert "Cube" in gui.names()
    listed = client.call("scene__list_objects")["structuredContent"]["objects"]
    assert "Cube" in [one["name"] for one in listed], "reading must go on"
    gui.key("Escape")
    asked.wait()
    assert "result" in asked.answer, asked.answer
    assert "Cube" not in gui.names()
    gui.key("ctrl+z")
    gui.wait(lambda: "Cube" in gui.names(), "the delete undone")
    place = gui.run("answer = list(bpy.data.objects['Cube'].location)")
    assert place == [0, 0, 0], "the cancelled drag must not be in an undo step"


def test_the_splash_screen_holds_up_nothing(gui: Gui, client: FakeClient) -> None:
    path = str(gui.folder / "splash.blend")
    gui.run(PERMIT)
    gui.run("with artist(): bpy.ops.wm.splash('INVOKE_DEFAULT')")
    gui.run("")  # The interface has been drawn.
    for tool, arguments in (
        ("scene__create_primitive", {"kind": "sphere", "name": "Ball"}),
        ("scene__delete", {"names": ["Cube"]}),
        ("scene__undo", {}),
        ("scene__save_file", {"path": path}),
        ("scene__open_file", {"path": path}),
        ("scene__delete", {"names": ["Ball"]}),
    ):
        done(client, tool, **arguments)
    gui.key("Escape")
    assert [name for name in gui.names() if name in ("Ball", "Cube")] == ["Cube"]


def test_a_drag_that_lasts_is_told(gui: Gui, client: FakeClient) -> None:
    gui.run(PERMIT)
    gui.run(DRAG)
    for tool, arguments in (
        ("scene__delete", {"names": ["Cube"]}),
        ("render__still", {"path": str(gui.folder / "still.png"), "width": 16, "height": 16}),
    ):
        answer = client.request("tools/call", {"name": tool, "arguments": arguments})
        assert answer.get("error", answer).get("code") == -31001, answer
        assert "dragging Cube" in answer["error"]["message"]
    gui.key("Escape")
    assert "Cube" in gui.names()


@pytest.mark.parametrize("tool", ["render__still", "scene__delete"])
def test_what_a_render_reads_stays_until_it_is_done(
    gui: Gui, client: FakeClient, tool: str
) -> None:
    gui.run(PERMIT)
    gui.run(render(256))
    assert gui.run("answer = bpy.app.is_job_running('RENDER')")
    path = str(gui.folder / "second.png")
    arguments: dict[str, Any] = {"names": ["Cube"]}
    if tool == "render__still":
        arguments = {"path": path, "width": 16, "height": 16}
    asked = _Asked(gui, tool, **arguments)
    words = gui.wait(waiting(gui), "the call that waits")
    assert "rendering" in words[0]
    saved = client.call("scene__save_file", {"path": str(gui.folder / "meanwhile.blend")})
    assert not saved.get("isError"), saved
    assert "Cube" in gui.names()
    gui.key("Escape")
    asked.wait()
    assert "result" in asked.answer, asked.answer
    assert not asked.answer["result"].get("isError"), asked.answer


def done(client: FakeClient, tool: str, **arguments: Any) -> None:
    answer = client.call(tool, arguments)
    assert not answer.get("isError"), answer


RENDERING = "answer = bpy.app.is_job_running('RENDER')"
#: Settings that a render normally has, and those it needs while it runs.
OWN = """
r, i = bpy.context.scene.render, bpy.context.scene.render.image_settings
answer = [r.resolution_x, r.resolution_y, r.resolution_percentage, r.filepath, r.use_file_extension]
answer += [i.file_format, i.color_mode, bpy.context.preferences.view.render_display_type]
answer += [bpy.context.scene.frame_current, len(bpy.app.handlers.render_complete)]
"""
PREPARED = """
s = bpy.context.scene
s.render.engine = "CYCLES"
s.cycles.samples, s.cycles.use_denoising = {samples}, False
s.render.filepath, s.render.image_settings.file_format = "//own", "OPEN_EXR"
"""
CANCEL = """
from callboard_blender import addon
for call in [*addon.residence.app.dispatcher.calls]:
    addon.residence.app.controls.cancel(call)
"""


def prepared(gui: Gui, samples: int) -> list[Any]:
    """Make a scene that takes a long time to render, and return its settings. Skips the test where
    renders can't run in the background."""
    if not gui.run("answer = bpy.app.version >= (4, 0)"):
        pytest.skip("this Blender reports a render as a change by the artist")
    gui.run(PERMIT)
    gui.run(PREPARED.format(samples=samples))
    settings: list[Any] = gui.run(OWN)
    return settings


def test_a_still_by_itself_is_whole_and_changes_nothing(gui: Gui, client: FakeClient) -> None:
    before, path = prepared(gui, 16), gui.folder / "whole.png"
    done(client, "scene__create_primitive", kind="cube", name="Made")
    answer = client.call("render__still", {"path": str(path), "width": 256, "height": 128})
    told = answer["structuredContent"]
    assert (told["width"], told["height"], told["engine"]) == (256, 128, "CYCLES")
    assert png_size(path.read_bytes()) == (256, 128)
    assert gui.run(OWN) == before
    done(client, "scene__undo")
    assert gui.names() == ["Camera", "Cube", "Light"], "a render must not count as a change"


@pytest.mark.parametrize("act", ["Escape", CANCEL], ids=["escape", "cancel"])
def test_the_window_goes_on_while_a_still_is_rendered(
    gui: Gui, client: FakeClient, act: str
) -> None:
    before, path = prepared(gui, 100_000), gui.folder / "beside.png"
    asked = _Asked(gui, "render__still", path=str(path), width=256, height=128)
    gui.wait(lambda: gui.run(RENDERING) or asked.answer, "the render")
    assert not asked.answer, asked.answer
    # Blender's own timers run, and the artist's actions and saves have the artist's settings.
    assert gui.run(OWN)[:-1] == before[:-1], "settings other than the handlers have changed"
    if act == "Escape":
        delete = in_background(lambda: done(client, "scene__delete", names=["Cube"]))
        words = gui.wait(waiting(gui), "the call that waits")
        assert words == ["waiting: busy with rendering"], "only the other call must wait"
        gui.key(act)
        delete()
        asked.wait()
        assert "stopped the render" in asked.answer["result"]["content"][0]["text"], asked.answer
    else:
        gui.run(act)
        asked.wait()
        gui.wait(lambda: not gui.run(RENDERING), "the end of the render")
    assert not path.exists()
    assert gui.run(OWN) == before
    done(client, "scene__create_primitive", kind="cube", name="After")


#: The artist is at frame 7, and has moved what has keys.
KEYED = """
cube = bpy.data.objects["Cube"]
for frame in (1, 201):
    cube.location.x = frame
    cube.keyframe_insert("location", frame=frame)
for number in range(200):
    other = bpy.data.objects.new("Other", cube.data)
    bpy.context.scene.collection.objects.link(other)
    other.parent = cube
bpy.context.scene.frame_set(7)
bpy.ops.wm.save_as_mainfile(filepath={path!r})
bpy.context.view_layer.update()
cube.location.y = 5
"""
KEPT = """
cube = bpy.data.objects["Cube"]
answer = [bpy.context.scene.frame_current, cube.location.y, bpy.data.is_dirty]
"""


@pytest.mark.parametrize("ends", ["whole", "cancelled"])
def test_the_artist_stays_at_a_frame_while_others_are_read(
    gui: Gui, client: FakeClient, ends: str
) -> None:
    gui.run(KEYED.format(path=str(gui.folder / "keyed.blend")))
    before = gui.run(KEPT)
    assert before[:2] == [7, 5]
    points = [{"name": "Cube"}, {"name": "Camera"}]
    asked = _Asked(gui, "blender_animation__sample", points=points, start=0, end=200, step=0.1)
    seen = []
    while not asked.answer:
        seen.append(gui.run(KEPT))
        if ends == "cancelled" and len(seen) == 1:
            gui.run(CANCEL)
    asked.wait()
    assert seen == [before] * len(seen)
    assert gui.run(KEPT) == before
    # On a busy machine, the call may end before it is cancelled.
    if ends == "whole" or "result" in asked.answer:
        told = asked.answer["result"]["structuredContent"]
        assert len(told["frames"]) == len(told["distances"]) == 2001
    else:
        assert asked.answer["error"]["code"] == REFUSED_BY_ARTIST


MODE = "answer = bpy.context.object.mode"
#: A script that begins in the artist's mode and ends in another.
IN_AND_OUT = """
cube = bpy.context.object
mode = cube.mode
bpy.ops.object.mode_set(mode="OBJECT")
cube["was in"] = mode
"""


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT", "WEIGHT_PAINT"])
def test_a_call_works_in_each_mode_and_leaves_it_as_it_was(
    gui: Gui, client: FakeClient, mode: str
) -> None:
    gui.run(PERMIT)
    gui.run(f"with artist(): bpy.ops.object.mode_set(mode='{mode}')")
    for tool, arguments in (
        ("scene__transform", {"name": "Cube", "translate": [1, 2, 3]}),
        ("scene__set_material_color", {"name": "Cube", "color": [1, 0, 0]}),
        ("scene__create_primitive", {"kind": "sphere", "name": "Ball", "radius": 1}),
        ("scene__save_file", {"path": str(gui.folder / f"{mode}.blend")}),
        ("script__execute", {"code": IN_AND_OUT}),
    ):
        result = client.call(tool, arguments)
        assert not result.get("isError"), result
        assert gui.run(MODE) == mode
    assert gui.run("answer = bpy.data.objects['Cube'].get('was in')") == mode
    broken = client.call("scene__transform", {"name": "Nothing", "translate": [1, 2, 3]})
    assert broken["isError"]
    assert gui.run(MODE) == mode
    gui.run("with artist(): bpy.ops.ed.undo()")
    assert not gui.run("answer = bpy.data.objects['Cube'].get('was in')")
    assert "Ball" in gui.names(), "one undo must revert only one call"
    gui.run("with artist(): bpy.ops.ed.undo()")
    assert "Ball" not in gui.names()
    assert gui.run("answer = list(bpy.data.objects['Cube'].location)") == [1, 2, 3]


#: A tool that runs in many slices and changes nothing.
LOOKS = """
from callboard_blender import addon

def looks():
    for _ in range(40):
        yield
    return {}

addon.residence.app.tools.register(
    "look__slowly", looks, "Looks.", required_capabilities=("scene.mutate",)
)
"""
#: The largest X coordinate in the mesh, even in Edit Mode.
RIGHT = """
cube = bpy.context.object
cube.update_from_editmode()
answer = max(one.co.x for one in cube.data.vertices)
"""

#: A step without a change, which begins before Blender has reported an edit.
REPORTED_LATE = """
from callboard_blender import addon
ended, undo = [], addon.residence._host.undo

def step():
    bpy.context.object.update_from_editmode()
    ended.append(undo.commit(undo.begin("Looks")) is None)

addon.residence._inbox.post(step)
"""


def test_a_slow_tool_that_changes_nothing_leaves_the_artists_undo_alone(
    gui: Gui, client: FakeClient
) -> None:
    gui.run(LOOKS)
    gui.key("Tab")
    gui.wait(lambda: gui.run(MODE) == "EDIT", "Edit Mode")
    for number in (2, 3):
        gui.key("g", "x", "1", "Return")
        gui.wait(lambda: gui.run(RIGHT) == pytest.approx(number), "a move in Edit Mode")  # noqa: B023
    result = client.call("look__slowly")
    assert not result.get("isError"), result
    gui.run(REPORTED_LATE)
    gui.wait(lambda: gui.run("answer = bool(ended)"), "the step")
    assert gui.run(MODE) == "EDIT"
    assert gui.run(RIGHT) == pytest.approx(3)
    for number in (2, 1):
        gui.key("ctrl+z")
        gui.wait(lambda: gui.run(RIGHT) == pytest.approx(number), "one Undo takes back one move")  # noqa: B023


def test_a_script_without_an_end_is_stopped_and_rolled_back(gui: Gui, client: FakeClient) -> None:
    gui.run(PERMIT)
    began = gui.folder / "began"
    code = (
        "bpy.data.objects['Cube'].location.x = 5\n"
        f"open({str(began)!r}, 'w').close()\n"
        "while True:\n    try:\n        pass\n    except Exception:\n        pass"
    )
    asked = {"name": "script__execute", "arguments": {"code": code}}
    client.start("tools/call", asked, id=77)
    gui.wait(began.exists, "the script")
    client.notify("notifications/cancelled", {"requestId": 77})
    gui.run("")  # The interface works again.
    assert gui.run("answer = bpy.data.objects['Cube'].location.x") == 0
    create = client.call("scene__create_primitive", {"kind": "cube", "name": "After", "size": 1})
    assert not create.get("isError")


OPERATOR = """
class CALLBOARD_OT_endless(bpy.types.Operator):
    bl_idname, bl_label = "callboard.endless", "Endless"
    def execute(self, context):
        while True:
            pass
bpy.utils.register_class(CALLBOARD_OT_endless)
"""


def asks_to_stop(gui: Gui, client: FakeClient) -> None:
    """Ask as `callboard stop` does. The command itself would take a Blender in ``ROOM`` for one on
    another machine."""
    over, bodies = threading.Event(), []

    def ask() -> None:
        try:
            bodies.append(client.send("POST", b"", path="/v1/stop").body)
        finally:
            over.set()

    join = in_background(ask)
    while not over.wait(1.5):  # No answer comes.
        gui.process.send_signal(signal.SIGURG)
    join()
    answer = json.loads(bodies[0])
    assert "holds" not in answer
    assert [one["rolled_back"] for one in answer["ended"]] == [True]


def holds_escape(gui: Gui, client: FakeClient) -> None:
    gui.xdotool("mousemove", *OVER_THE_VIEW, "keydown", "Escape")


@pytest.mark.parametrize("act", [asks_to_stop, holds_escape])
@pytest.mark.parametrize(
    "hold",
    ["while True: pass", "import time; time.sleep(600)", OPERATOR + "bpy.ops.callboard.endless()"],
    ids=["loop", "sleep", "operator"],
)
def test_the_artist_ends_what_holds_blender(
    gui: Gui,
    client: FakeClient,
    hold: str,
    act: Callable[[Gui, FakeClient], None],
) -> None:
    gui.run(PERMIT)
    began = gui.folder / "held"
    began.unlink(missing_ok=True)
    code = f"bpy.data.objects['Cube'].location.x = 5\nopen({str(began)!r}, 'w').close()\n{hold}"
    asked = {"name": "script__execute", "arguments": {"code": code}}
    held = client.start("tools/call", asked)
    gui.wait(began.exists, "the script")
    act(gui, client)
    try:
        assert held.result(DEADLINE)["error"]["code"] == REFUSED_BY_ARTIST
    finally:
        gui.xdotool("keyup", "Escape")
    assert gui.run("answer = bpy.data.objects['Cube'].location.x") == 0
    create = client.call("scene__create_primitive", {"kind": "cube", "name": "After", "size": 1})
    assert not create.get("isError")


#: The changes that the panel shows, each with a flag that is true if it is undone.
CHANGES = """
from callboard_blender import addon
book = addon.residence.app.dispatcher.changed.all()
answer = [[one.objects[0], one.undone] for one in book]
"""


def test_what_the_artist_undoes_himself_shows_as_undone(gui: Gui, client: FakeClient) -> None:
    for name in ("One", "Two", "Three"):
        made = client.call("scene__create_primitive", {"kind": "cube", "name": name, "size": 1})
        assert not made.get("isError"), made

    def shows(*undone: bool) -> None:
        wanted = [list(pair) for pair in zip(("One", "Two", "Three"), undone, strict=True)]
        gui.wait(lambda: gui.run(CHANGES) == wanted, f"{wanted}, not {gui.run(CHANGES)}")

    gui.key("ctrl+z")
    shows(False, False, True)
    gui.key("ctrl+z")
    shows(False, True, True)
    gui.key("ctrl+shift+z")
    shows(False, False, True)
    gui.run(
        "from callboard_blender import addon\n"
        "app = addon.residence.app\n"
        "app.controls.changes.undo_back(app.dispatcher.changed.all()[0].call)"
    )
    shows(True, True, True)
    assert gui.names() == ["Camera", "Cube", "Light"]
    gui.key("ctrl+shift+z")
    shows(False, True, True)


def test_a_client_undoes_its_own_and_nothing_of_the_artists(gui: Gui, client: FakeClient) -> None:
    for name in ("One", "Two"):
        made = client.call("scene__create_primitive", {"kind": "cube", "name": name, "size": 1})
        assert not made.get("isError"), made
    for _ in range(2):
        assert client.call("scene__undo")["structuredContent"]["undone"][0]["did"] == "created Two"
        assert gui.names() == ["Camera", "Cube", "Light", "One"]
        assert not client.call("scene__redo").get("isError")
        assert gui.names() == ["Camera", "Cube", "Light", "One", "Two"]
    client.call("scene__undo")
    gui.run("with artist(): bpy.ops.object.empty_add()")
    for tool in ("scene__redo", "scene__undo"):
        assert client.call(tool)["isError"], tool
    assert gui.names() == ["Camera", "Cube", "Empty", "Light", "One"]
