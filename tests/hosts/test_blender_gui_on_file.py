"""An agent's code over a file on disk, while the artist works in Blender's window."""

from __future__ import annotations

import pytest

from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import DEADLINE, Gui, in_background, missing

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = pytest.mark.slow

TOOL = "script_on_file__execute"
RESIDENCE = "from callboard_blender.addon import residence\n"
#: Agents may run code, after a click.
RESTORED = f"{RESIDENCE}residence.app.controls.restore('script.execute')"
ASKED = f"{RESIDENCE}answer = [[q.why, q.arguments] for q in residence.snapshot.questions]"
ALLOW = f"""{RESIDENCE}
for question in residence.snapshot.questions:
    residence.app.controls.answer(question.id, "allow")
"""
#: Waits for a file, so that the artist's window can be tried in the meantime.
CODE = """
import os, time
assert bpy.app.background
open({began!r}, "w").close()
while not os.path.exists({go!r}):
    time.sleep(0.05)
bpy.data.objects["Cube"].location.x = 7
"""


def test_the_artist_is_asked_and_works_on_meanwhile(gui: Gui, client: FakeClient) -> None:
    file, other = gui.folder / "other.blend", gui.folder / "moved.blend"
    began, go = gui.folder / "began", gui.folder / "go"
    gui.run(RESTORED)
    gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(file)!r}, copy=True)")
    code = CODE.format(began=str(began), go=str(go))
    arguments = {"file": str(file), "code": code, "save_as": str(other)}
    pending = client.start("tools/call", {"name": TOOL, "arguments": arguments})
    ((why, shown),) = gui.wait(lambda: gui.run(ASKED), "the question")
    assert shown == arguments
    assert str(file) in why
    assert str(other) in why
    assert not began.exists()
    gui.run(ALLOW)
    # Writing outside the roots is a second question.
    gui.wait(lambda: began.exists() or gui.run(ALLOW), "the code", DEADLINE)
    before = gui.run("answer = bpy.data.filepath")
    with gui.client() as second:
        made = second.call("scene__create_primitive", {"kind": "cube", "name": "Mine", "size": 1})
        assert not made.get("isError"), made
    gui.run("with artist(): bpy.ops.ed.undo()")
    assert "Mine" not in gui.names()
    go.touch()
    result = pending.result(DEADLINE)["result"]
    assert not result["isError"], result
    assert result["structuredContent"]["changed"] == ["Cube"]
    assert other.is_file()
    assert gui.run("answer = [bpy.data.filepath, bpy.data.objects['Cube'].location.x]") == [
        before,
        0,
    ]


def test_a_no_starts_nothing(gui: Gui, client: FakeClient) -> None:
    file, began = gui.folder / "none.blend", gui.folder / "never"
    gui.run(RESTORED)
    gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(file)!r}, copy=True)")
    arguments = {"file": str(file), "code": f"open({str(began)!r}, 'w')"}

    def ask() -> None:
        response = client.request("tools/call", {"name": TOOL, "arguments": arguments})
        assert "the artist refused it" in response["error"]["message"]

    join = in_background(ask)
    gui.wait(lambda: gui.run(ASKED), "the question")
    gui.run(ALLOW.replace('"allow"', '"refuse"'))
    join()
    assert not began.exists()
