"""Questions in Blender's own panels and pop-ups, drawn in Blender."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.errors import REFUSED_BY_ARTIST
from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import Display, Gui, blender_gui, missing, unpack

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: Records the calls made to Blender's layouts.
DRAWN = """
from types import SimpleNamespace
from callboard_blender.ui import questions as asking, sidebar
from callboard_blender.addon import residence
class Layout:
    def __init__(self, seen, above=None):
        self.seen, self.above, self.enabled = seen, above, True
        self.layout = self
    def row(self, align=False): return Layout(self.seen, self)
    column = box = row
    @property
    def on(self): return self.enabled and (self.above is None or self.above.on)
    def label(self, text="", icon=""): self.seen.append(["label", text or icon, True])
    def operator(self, name, text="", icon="", emboss=True):
        self.seen.append([name, text or icon, lambda: self.on])
        return SimpleNamespace()
def drawn(draw, *args):
    seen = []
    draw(Layout(seen), *args)
    return [[kind, text, on if on is True else on()] for kind, text, on in seen]
questions = residence.snapshot.questions
"""


@pytest.fixture
def gui(blender_archive: Path, display: Display, tmp_path: Path) -> Iterator[Gui]:
    with blender_gui(tmp_path, display) as gui:
        unpack(gui, blender_archive)
        gui.enable()
        gui.run("bpy.context.window_manager.windows[0]")
        yield gui


def test_a_question_shows_in_the_header_and_is_allowed_once_all_of_it_was_shown(gui: Gui) -> None:
    with gui.client() as client:
        gui.run(
            "from callboard_blender.addon import residence\n"
            "residence.app.controls.restore('script.execute')"
        )
        code = "\n".join(f"step({number})" for number in range(50))
        params = {"name": "script__execute", "arguments": {"code": code}}
        calls = [client.start("tools/call", params) for _ in range(6)]
        gui.wait(lambda: gui.run(f"{DRAWN}answer = len(questions)") == 6, "six questions")
        mark = gui.run(f"{DRAWN}answer = drawn(asking.draw_mark, None)")
        assert mark == [["callboard.details", "QUESTION", True]]
        line = gui.run(f"{DRAWN}answer = drawn(asking.draw_line, None)")
        assert line == [["callboard.details", f"6 questions, first {client_name(gui)}", True]]
        side = gui.run(f"{DRAWN}answer = drawn(sidebar.draw_question, residence.snapshot)")
        assert "callboard.answer" in [kind for kind, text, on in side if text == "Refuse"]
        assert "Allow once" not in [text for _, text, _ in side]
        gui.run(f"{DRAWN}asking.show(questions[0].id, asking.fitting(1000, 1000))")
        seen: list[str] = []
        for page in range(3):
            popup = gui.run(
                f"{DRAWN}bpy.ops.callboard.page(page={page})\n"
                "answer = drawn(asking.draw_details, questions[0])"
            )
            seen += [text for kind, text, _ in popup if kind == "label"]
            (allowed,) = [on for _, text, on in popup if text == "Allow once"]
            assert allowed is (page == 2)
        beside = "{'code': 'print(1)', 'what': '/World'}"
        lines = gui.run(f"{DRAWN}answer = asking.argument_lines({beside})")
        assert lines == ["{", '  "what": "/World"', "}", "", "code:", "print(1)"]
        assert {f"step({number})" for number in range(50)} <= set(seen)
        gui.run(
            f"{DRAWN}for one in questions: bpy.ops.callboard.answer(question=one.id,"
            " answer='refuse')"
        )
        for call in calls:
            gui.wait(call.done, "answer")
            assert call.result()["error"]["code"] == REFUSED_BY_ARTIST
    gone = f"{DRAWN}answer = drawn(asking.draw_line, None)"
    gui.wait(lambda: gui.run(gone) == [], "the end of the notice")
    mark = gui.run(f"{DRAWN}answer = drawn(asking.draw_mark, None)")
    assert mark == [["label", "LINKED", True]], "the mark must keep its place and must not be dim"
    gui.run("bpy.ops.callboard.end()")
    mark = gui.run(f"{DRAWN}answer = drawn(asking.draw_mark, None)")
    assert mark == [["label", "UNLINKED", True]]
    gui.run(
        "import os\n"
        "from callboard_blender import addon\n"
        "os.environ['CALLBOARD_PORT'] = 'many'\n"
        "addon._autostart()\n"
        "del os.environ['CALLBOARD_PORT']"
    )
    assert "callboard: not serving: CALLBOARD_PORT" in gui.output()
    assert "callboard_addon/" not in gui.output(), "callboard printed a traceback"


def test_a_pop_up_closes_when_its_question_ends(gui: Gui) -> None:
    held = "answer = residence.is_held_by_popup()"
    with gui.client() as client:
        gui.run(
            "from callboard_blender.addon import residence\n"
            "residence.app.controls.restore('script.execute')"
        )
        params = {"name": "script__execute", "arguments": {"code": "1"}}
        client.start("tools/call", params, id=41)
        gui.wait(lambda: gui.run("answer = len(residence.snapshot.questions)") == 1, "the question")
        gui.key("Escape")  # The pointer is over the view.
        gui.run("with artist(): bpy.ops.callboard.details('INVOKE_DEFAULT')")
        gui.wait(lambda: gui.run(held), "the pop-up")
        client.notify("notifications/cancelled", {"requestId": 41})
        gui.wait(lambda: not gui.run(held), "the end of the hold")
        assert "callboard_addon/" not in gui.output(), "callboard printed a traceback"


def client_name(gui: Gui) -> str:
    return str(gui.run(f"{DRAWN}answer = questions[0].client"))


#: The sidebar's own panel, as it is drawn.
PANEL = f"{DRAWN}answer = drawn(lambda layout: sidebar.CALLBOARD_PT_main.draw(layout, None))"
#: A script that needs several pages to be shown, and leaves an object.
LONG = "\n".join(
    ("import bpy", *(f"step = {n}" for n in range(40)), "bpy.data.objects['Cube'].name = 'Seen'")
)
SCREEN_HEIGHT = 800


def test_the_sidebar_s_buttons_stay_where_they_are(gui: Gui, tmp_path: Path) -> None:
    gui.run("from callboard_blender.addon import residence")
    gui.run("residence.app.controls.restore('script.execute')")
    with gui.client() as client:
        client.call("scene__list_objects")
        gui.wait(lambda: gui.run("answer = bool(residence.snapshot.clients)"), "the client")
        gui.wait(
            lambda: not gui.run("answer = bool(residence.snapshot.calls)"), "the end of the call"
        )
        idle = gui.run(PANEL)
        assert ["label", "No changes by clients yet", True] in idle
        assert "Review to Allow" not in [text for _, text, _ in idle], (
            "there is no question to review"
        )
        calls = [
            client.start("tools/call", {"name": "script__execute", "arguments": {"code": LONG}})
            for _ in range(5)
        ]
        gui.wait(lambda: gui.run("answer = len(residence.snapshot.questions)") == 5, "questions")
        asked = gui.run(PANEL)
        assert [kind for kind, _, _ in asked[: len(idle)]] == [kind for kind, _, _ in idle]
        assert {"On: waiting for you", "Review to Allow", "Refuse"} <= {
            text for _, text, _ in asked
        }
        gui.run("bpy.ops.callboard.stop()")
        for call in calls:
            gui.wait(call.done, "answer")
            assert "error" in call.result()
        stopped = gui.wait(
            lambda: [text for _, text, _ in gui.run(PANEL) if text.startswith("Stopped")],
            "the stopped calls",
        )
        assert stopped == ["Stopped, calls ended: 5"]
        kinds = [kind for kind, _, _ in idle]
        gui.wait(lambda: [kind for kind, _, _ in gui.run(PANEL)] == kinds, "the buttons in place")


def test_what_was_changed_last_and_by_whom_is_taken_back(gui: Gui) -> None:
    def texts() -> list[str]:
        return [text for _, text, _ in gui.run(PANEL)]

    def press(operator: str, call: int) -> None:
        """Press a button in the row of a change. Changes are counted from the oldest. A row that
        has moved ignores the click."""
        gui.run(PANEL)
        act = f"bpy.ops.callboard.{operator}(call=residence.snapshot.changes[{call}].call)"
        gui.wait(lambda: gui.run(f"answer = 'FINISHED' in {act}"), "the button")

    gui.run("from callboard_blender.addon import residence")
    with gui.client() as client:
        for name in ("One", "Two", "Three"):
            client.call("scene__create_primitive", {"kind": "cube", "name": name, "size": 1})
        gui.wait(lambda: "Undo the last 3 changes" in texts(), "the three changes")
        newest = next(text for text in texts() if text.startswith("created"))
        assert newest == "created Three"
        assert any(text.startswith(f"by {client_of(gui)}, ") for text in texts())
        assert [t for t in texts() if t.startswith("Undo")][1:] == [
            "Undo",
            "Undo to Here (2)",
            "Undo to Here (3)",
        ]
        assert "On: nothing is running" in texts()
        press("select", 0)
        selected = "answer = [o.name for o in bpy.context.selected_objects]"
        gui.wait(lambda: gui.run(selected) == ["One"], "the selection")
        press("undo", 2)
        gui.wait(
            lambda: gui.names() == ["Camera", "Cube", "Light", "One", "Two"], "one change undone"
        )
        gui.wait(
            lambda: any(text.endswith(", undone") for text in texts()),
            "the undone change in the panel",
        )
        press("undo", 0)
        gui.wait(lambda: gui.names() == ["Camera", "Cube", "Light"], "the turn undone")
        assert "callboard_addon/" not in gui.output(), "callboard printed a traceback"


def client_of(gui: Gui) -> str:
    return str(gui.run("answer = residence.snapshot.changes[0].client"))


def test_a_refusal_tells_the_way_to_the_switch(gui: Gui) -> None:
    gui.run(f"{DRAWN}residence.app.controls.withdraw('scene.mutate')")
    with gui.client() as client:
        told = description(client, "scene__rename")
        way = re.search(
            r"can switch it on in the sidebar of .*3D view \(key (\w)\), tab (\w+)", told
        )
        assert way is not None, told
        shown = "next(a for a in window.screen.areas if a.type == 'VIEW_3D').spaces.active"
        gui.run(f"window = bpy.context.window_manager.windows[0]\n{shown}.show_region_ui = False")
        gui.key(way[1].lower())
        gui.wait(lambda: gui.run(f"answer = {shown}.show_region_ui"), "the sidebar, by its key")
        place = gui.run(
            "one = bpy.types.CALLBOARD_PT_capabilities\n"
            "answer = [one.bl_space_type, one.bl_region_type, one.bl_category]"
        )
        assert place == ["VIEW_3D", "UI", way[2]]
        switches = "drawn(lambda layout: sidebar.CALLBOARD_PT_capabilities.draw(layout, None))"
        rows = gui.run(f"{DRAWN}answer = {switches}")
        assert "callboard.capability" in [kind for kind, text, on in rows if on]
        gui.run("bpy.ops.callboard.capability(name='scene.mutate')")
        assert "Not available" not in description(client, "scene__rename")


def description(client: FakeClient, name: str) -> str:
    tools = client.request("tools/list", {})["result"]["tools"]
    (tool,) = (each for each in tools if each["name"] == name)
    return str(tool["description"])


def test_a_folder_is_added_and_taken_away(gui: Gui, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    roots = "answer = [[r.name, r.path, r.source] for r in residence.snapshot.roots]"
    gui.run("from callboard_blender.addon import residence")
    gui.run(f"bpy.ops.callboard.add_folder(directory={str(folder) + '/'!r})")
    gui.wait(lambda: gui.run(roots) == [["work", str(folder), "artist"]], "the folder")
    shown = gui.run(
        f"{DRAWN}answer = drawn(lambda layout: sidebar.CALLBOARD_PT_roots.draw(layout, None))"
    )
    assert shown[0] == ["callboard.add_folder", "ADD", True]
    assert ["label", f"work: {folder}", True] in shown
    gui.run("bpy.ops.preferences.addon_disable(module='callboard_addon')")
    gui.enable()
    gui.run("from callboard_blender.addon import residence")
    gui.wait(
        lambda: gui.run(roots) == [["work", str(folder), "artist"]],
        "the same root in another server",
    )
    with gui.client() as client:
        gui.run("bpy.data.objects['Cube'].location.x = 1")
        saved = client.call("scene__save_file", {"path": "shot.blend"})
    assert not saved.get("isError"), saved
    assert (folder / "shot.blend").is_file()
    lasting = ["work", str(folder), "artist"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(elsewhere / 'shot.blend')!r})")
    project = ["elsewhere", str(elsewhere), "project"]
    gui.wait(lambda: gui.run(roots) == [lasting, project], "the scene's new folder as the project")
    gui.run("bpy.ops.wm.read_homefile(use_factory_startup=False, load_ui=False)")
    gui.wait(lambda: gui.run(roots) == [lasting], "what was kept for scenes without a file")
    gui.run("bpy.ops.callboard.remove_folder(uri=residence.snapshot.roots[0].uri)")
    gui.wait(lambda: gui.run(roots) == [], "no roots")
    gui.run(f"bpy.ops.wm.open_mainfile(filepath={str(elsewhere / 'shot.blend')!r})")
    gui.wait(lambda: gui.run(roots) == [lasting, project], "what was kept for that project")


@pytest.mark.parametrize("size", [(480, 360), (1100, 640)], ids=["small", "large"])
def test_a_question_is_answered_by_mouse_with_the_sidebar_closed(
    blender_archive: Path, display: Display, tmp_path: Path, size: tuple[int, int]
) -> None:
    geometry = ("--window-geometry", "0", "0", *map(str, size))
    with blender_gui(tmp_path, display, *geometry) as gui:
        unpack(gui, blender_archive)
        gui.enable()
        gui.run("from callboard_blender.addon import residence")
        gui.run("residence.app.controls.restore('script.execute')")
        x, y, wide, high = gui.run(
            "area = next(a for a in bpy.context.window_manager.windows[0].screen.areas"
            " if a.type == 'VIEW_3D')\n"
            "region = next(r for r in area.regions if r.type == 'HEADER')\n"
            "answer = [region.x, region.y, region.width, region.height]"
        )
        width, height = gui.run(
            "window = bpy.context.window_manager.windows[0]\n"
            "answer = [window.width, window.height]"  # Blender enforces a smallest window.
        )
        # The status bar changes its hints on its own.
        window = (0, SCREEN_HEIGHT - height, width, SCREEN_HEIGHT - 26)
        header = (x, SCREEN_HEIGHT - y - high, x + wide, SCREEN_HEIGHT - y)
        status = (0, SCREEN_HEIGHT - 20, width, SCREEN_HEIGHT)
        assert display.frame().red(header) is None
        with gui.client() as client:
            call = client.start(
                "tools/call", {"name": "script__execute", "arguments": {"code": LONG}}
            )
            mark = gui.wait(lambda: display.frame().red(header), "a red mark in the header")
            if width > 1000:  # In a narrower window there is no room for the line.
                gui.wait(lambda: display.frame().red(status), "a red line in the status bar")
            middle = (mark[0] + mark[2]) // 2, (mark[1] + mark[3]) // 2
            gui.xdotool("mousemove", "--sync", *map(str, middle))
            gui.run("")
            before = display.frame()
            gui.click_until("residence.app.host.may_run('change') is not None", *middle)
            gui.run("")
            popup = display.frame().changed(before, window)
            assert popup is not None
            assert popup[3] - popup[1] < height
            assert popup[2] - popup[0] < width
            across = popup[0] + (popup[2] - popup[0]) * 5 // 6
            upwards = range(popup[3] - 18, popup[3] - 80, -10)
            for row in upwards:  # Click the answer, which isn't accepted yet, and then Next.
                gui.click(across, row)
            assert not call.done()
            assert "Cube" in gui.names()
            for row in upwards:
                if not call.done():
                    gui.click(across, row)
            gui.wait(call.done, "the answer")
            answer = call.result()
            assert not answer.get("result", {"isError": True}).get("isError"), answer
            assert "Seen" in gui.names()
        assert "callboard_addon/" not in gui.output(), "callboard printed a traceback"
