"""What Blender's own panels and pop-ups show of questions, drawn in Blender."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.errors import REFUSED_BY_ARTIST
from hosts.blender_gui_rig import Gui, blender_gui, install, missing

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: Notes what is drawn, by the words that Blender's layouts have.
DRAWN = """
from types import SimpleNamespace
from callboard_blender import sidebar
from callboard_blender.addon import residence
class Layout:
    def __init__(self, seen, above=None):
        self.seen, self.above, self.enabled = seen, above, True
        self.layout = self
    def row(self, align=False): return Layout(self.seen, self)
    column = box = row
    @property
    def on(self): return self.enabled and (self.above is None or self.above.on)
    def label(self, text="", icon=""): self.seen.append(["label", text, True])
    def operator(self, name, text="", icon=""):
        self.seen.append([name, text, lambda: self.on])
        return SimpleNamespace()
def drawn(draw, *args):
    seen = []
    draw(Layout(seen), *args)
    return [[kind, text, on if on is True else on()] for kind, text, on in seen]
questions = residence.snapshot.questions
"""


@pytest.fixture
def gui(blender_archive: Path, display: str, tmp_path: Path) -> Iterator[Gui]:
    with blender_gui(tmp_path, display) as gui:
        install(gui, blender_archive)
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
        header = gui.run(f"{DRAWN}answer = drawn(sidebar.draw_waiting, None)")
        assert header == [["callboard.details", f"{client_name(gui)} asks (6)", True]]
        side = gui.run(f"{DRAWN}answer = drawn(sidebar.draw_question, questions)")
        assert "callboard.answer" in [kind for kind, text, on in side if text == "Refuse"]
        assert "Allow Once" not in [text for _, text, _ in side]
        seen: list[str] = []
        for page in range(3):
            popup = gui.run(
                f"{DRAWN}sidebar.turn_page(questions[0].id, {page})\n"
                "answer = drawn(sidebar.draw_details, questions[0])"
            )
            seen += [text for kind, text, _ in popup if kind == "label"]
            (allowed,) = [on for _, text, on in popup if text == "Allow Once"]
            assert allowed is (page == 2)
        beside = "{'code': 'print(1)', 'what': '/World'}"
        lines = gui.run(f"{DRAWN}answer = sidebar.argument_lines({beside})")
        assert lines == ["{", '  "what": "/World"', "}", "", "code:", "print(1)"]
        assert {f"step({number})" for number in range(50)} <= set(seen)
        gui.run(
            f"{DRAWN}for one in questions: bpy.ops.callboard.answer(question=one.id,"
            " answer='refuse')"
        )
        for call in calls:
            gui.wait(call.done, "answer")
            assert call.result()["error"]["code"] == REFUSED_BY_ARTIST
    gone = f"{DRAWN}answer = drawn(sidebar.draw_waiting, None)"
    gui.wait(lambda: gui.run(gone) == [], "the end of the notice")
    assert "Traceback" not in gui.output()


def client_name(gui: Gui) -> str:
    return str(gui.run(f"{DRAWN}answer = questions[0].client"))
