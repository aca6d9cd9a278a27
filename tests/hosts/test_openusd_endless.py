"""A tool that never ends, on a host without an application."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.errors import CALL_TIMEOUT
from callboard.guest.inbox import MainThreadInbox
from callboard.host import SCENE_MUTATE
from callboard.host_kit.headless import make_host
from callboard_testing.fake_client import FakeClient
from waiting import until


@pytest.mark.slow
def test_it_is_ended_at_its_time_limit_and_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    inbox = MainThreadInbox()
    host = make_host("openusd", inbox.post)
    app = Callboard(host, McpHttpConfig(records=False, announce=False, call_timeout=1.0)).start()

    def forever(ctx: Any) -> None:
        ctx.port(SCENE_MUTATE).create("cube", "Half", {"size": 1.0})
        while True:
            pass

    app.tools.register("forever", forever, "Never ends.", required_capabilities=(SCENE_MUTATE,))
    answers: list[dict[str, Any]] = []

    def talk() -> None:
        try:
            with FakeClient(app.url, app.token) as client:
                answers.append(client.request("tools/call", {"name": "forever", "arguments": {}}))
                # The tool ends some time after its limit. Until then, the limits of other calls
                # pass too.
                list_objects = {"name": "scene__list_objects", "arguments": {}}
                answers.append(
                    until(
                        lambda: client.request("tools/call", list_objects).get("result"),
                        "the main thread to be free again",
                    )
                )
        finally:
            inbox.stop()

    talking = threading.Thread(target=talk)
    talking.start()
    inbox.run()
    talking.join()
    app.stop()
    host.close()
    assert answers[0]["error"]["code"] == CALL_TIMEOUT
    assert answers[1]["structuredContent"]["objects"] == []
