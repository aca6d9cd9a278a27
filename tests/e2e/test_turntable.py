"""A long render in a real Blender: every frame is reported, a cancellation ends it, and other calls
are served meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, serve
from needed import needs

PROGRESS = "notifications/progress"

pytestmark = needs("bpy")


@pytest.fixture(scope="module")
def blender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with serve(tmp_path_factory.mktemp("home"), "--host", "blender") as running:
        yield running


def turntable(folder: Path, frames: int) -> dict[str, object]:
    return {
        "name": "render__turntable",
        "arguments": {
            "path": str(folder / "frame_####.png"),
            "frames": frames,
            "width": 32,
            "height": 32,
        },
        "_meta": {"progressToken": "t"},
    }


@pytest.mark.timeout(300)
def test_every_frame_is_told_of(blender: Program, tmp_path: Path) -> None:
    with FakeClient(blender.url, blender.token) as client:
        response = client.request("tools/call", turntable(tmp_path, 4))
        steps = client.wait_for(PROGRESS, 4)
    assert response["result"]["isError"] is False
    assert [step["params"]["progress"] for step in steps] == [1, 2, 3, 4]
    assert all(step["params"]["total"] == 4 for step in steps)
    assert len(list(tmp_path.glob("frame_*.png"))) == 4


@pytest.mark.timeout(300)
def test_a_cancel_stops_within_one_frame_and_others_are_served_meanwhile(
    blender: Program, tmp_path: Path
) -> None:
    with FakeClient(blender.url, blender.token) as client:
        rendering = client.in_thread(
            lambda: client.post(
                {
                    "jsonrpc": "2.0",
                    "id": "render",
                    "method": "tools/call",
                    "params": turntable(tmp_path, 500),
                }
            )
        )
        client.wait_for(PROGRESS, 2)
        assert client.request("ping")["result"] == {}
        assert not rendering.done()
        client.notify("notifications/cancelled", {"requestId": "render"})
        told = len([m for m in client.received if m["method"] == PROGRESS])
        # A cancelled request has no response. Its stream just ends.
        assert rendering.result(120).messages == []
        # The next call on the main thread runs after the slice that was running.
        listed = client.call("scene__list_objects")
        frames = len(list(tmp_path.glob("frame_*.png")))
    assert listed["isError"] is False
    assert frames <= told + 2  # One frame was being rendered, and one report was on its way.
