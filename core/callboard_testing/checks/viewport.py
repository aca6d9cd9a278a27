"""Checks that pictures of the viewport have the requested size, and that nothing else changes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from callboard.host import FILESYSTEM_WRITE, SCENE_MUTATE, SCENE_READ, VIEWPORT
from callboard_testing.checks.objects import raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


class Viewport:
    needs = (SCENE_READ, SCENE_MUTATE, VIEWPORT, FILESYSTEM_WRITE)

    def test_a_picture_has_the_size_that_was_asked_for(self, bench: Bench) -> None:
        bench.editor.create("torus", "Ring", {"major_radius": 1.0, "minor_radius": 0.25})
        before, selected = bench.everything(), bench.reader.selection()
        port: Any = bench.port(VIEWPORT)
        for width, height in ((320, 180), (33, 77), (1024, 16)):
            data = port.capture(width, height)
            assert data[:8] == b"\x89PNG\r\n\x1a\n"
            assert struct.unpack(">II", data[16:24]) == (width, height)
        assert bench.everything() == before
        assert bench.reader.selection() == selected

    def test_the_tool_returns_the_image_itself(self, bench: Bench) -> None:
        image = bench.call("viewport__capture", {"width": 64, "height": 32})
        assert image.mime_type == "image/png"
        assert struct.unpack(">II", image.data[16:24]) == (64, 32)

    def test_a_picture_is_written(self, bench: Bench) -> None:
        file = bench.folder / "view.png"
        size = {"width": 64, "height": 32}
        saved = bench.call("viewport__save_capture", {"path": str(file), **size})
        assert saved["bytes"] == file.stat().st_size
        wrong = {"path": str(bench.folder / "view.txt"), **size}
        raised(ValueError, bench.call, "viewport__save_capture", wrong)
        assert [p.name for p in bench.folder.iterdir()] == ["view.png"]
