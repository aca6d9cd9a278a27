"""Looks from Blender's real window leave the artist's view as it was."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import ROOM, Gui, missing
from hosts.known_looks import MODES, SIZE, assert_known, make

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: All the settings that a look may change for a moment.
_ARTIST = """
view = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D")
shown, scene = view.spaces.active, bpy.context.scene
answer = [
    [list(row) for row in shown.region_3d.view_matrix], shown.region_3d.view_perspective,
    shown.shading.type, shown.shading.show_xray, shown.overlay.show_overlays,
    shown.shading.background_type, list(shown.shading.background_color),
    scene.frame_current, scene.camera.name, scene.render.engine, scene.render.resolution_x,
    scene.render.filepath, sorted(o.name for o in bpy.data.objects if o.select_get()),
    len(bpy.data.cameras), len(bpy.data.materials), len(bpy.data.worlds),
]
"""


def test_each_kind_of_picture_is_as_it_was_and_the_artist_sees_nothing_of_it(
    gui: Gui, client: FakeClient
) -> None:
    gui.run("bpy.context.scene.render.engine = 'CYCLES'")
    make(client.call)
    before = gui.run(_ARTIST)
    names = gui.names()
    failed = []
    for name, asked in MODES.items():
        if ROOM and name == "material":
            continue  # Without a graphics card, Eevee in 4.2 and later takes minutes.
        result = client.call("viewport__look", {**SIZE, **asked})
        assert not result.get("isError"), result
        if ROOM:  # The pictures have the theme and tones of Blender 3.4.
            assert result["structuredContent"]["empty"] < 1
            continue
        try:
            assert_known(f"window-{name}", picture(result))
        except AssertionError as different:
            failed.append(str(different))
    assert gui.run(_ARTIST) == before
    assert failed == []
    # No look has added an undo step: the newest step made the box.
    gui.key("ctrl+z")
    gui.wait(lambda: gui.names() == sorted(set(names) - {"Box"}), "the box undone")


def picture(result: dict[str, Any]) -> bytes:
    block = next(block for block in result["content"] if block["type"] == "image")
    return base64.b64decode(block["data"])
