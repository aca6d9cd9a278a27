"""Checks that rendered images have the requested size, and that the scene stays unchanged."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.errors import CallCancelled, HostError
from callboard.ground.png import decode
from callboard.host import FILESYSTEM_WRITE, RENDER, SCENE_MUTATE, SCENE_READ
from callboard_testing.checks.objects import raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench
    from callboard_testing.direct_calls import DirectContext


def _png_size(path: str) -> tuple[int, int]:
    data = Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


class Rendering:
    needs = (SCENE_READ, SCENE_MUTATE, RENDER, FILESYSTEM_WRITE)

    def test_a_turntable_reports_each_frame_and_changes_nothing(self, bench: Bench) -> None:
        bench.editor.create("torus", "Ring", {"major_radius": 1.0, "minor_radius": 0.25})
        before = bench.everything()
        reported: list[Any] = []
        answer = bench.call(
            "render__turntable",
            {"path": str(bench.folder / "turn_##.png"), "frames": 3, "width": 48, "height": 32},
            each_slice=lambda ctx: reported.append(ctx.steps[-1][:2]),
        )
        assert reported == [(1, 3), (2, 3), (3, 3)]
        names = [Path(path).name for path in answer["paths"]]
        assert names == ["turn_01.png", "turn_02.png", "turn_03.png"]
        assert all(_png_size(path) == (48, 32) for path in answer["paths"])
        assert answer["engine"]
        # The answer also contains the pictures, side by side.
        seen: Any = bench.call.content[-1]
        assert decode(seen.data).width == 3 * 48 + 8
        assert bench.everything() == before

    def test_a_cancel_keeps_what_is_finished_and_stops(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()

        def cancel(ctx: DirectContext) -> None:
            ctx.cancelled = True

        arguments = {
            "path": str(bench.folder / "turn.png"),
            "frames": 50,
            "width": 32,
            "height": 32,
        }
        try:
            bench.call("render__turntable", arguments, each_slice=cancel)
        except CallCancelled:
            pass
        else:
            raise AssertionError("the cancellation was ignored")
        assert [p.name for p in bench.folder.iterdir()] == ["turn_0001.png"]
        assert bench.everything() == before

    def test_a_format_that_is_none_is_refused(self, bench: Bench) -> None:
        bench.cube("Here")
        images = bench.port(RENDER).turntable(str(bench.folder / "turn_#.txt"), 32, 32, 2)
        raised(HostError, next, images)
        assert list(bench.folder.iterdir()) == []
