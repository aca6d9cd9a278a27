"""The number of tools is the same everywhere: as many as a client lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callboard_programs.cli import main
from serving import served


def test_list_and_doctor_tell_as_many_as_a_client_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server, server.client() as client:
        server.tool("extra", lambda: None, annotations={"readOnlyHint": True})
        count = len(client.request("tools/list")["result"]["tools"])
        main(["list"])
        assert f" {count} tools " in capsys.readouterr().out
        main(["list", "--json"])
        assert [each["tools"] for each in json.loads(capsys.readouterr().out)] == [count]
        main(["doctor"])
        assert f"is serving {count} tools at" in capsys.readouterr().out
        health = client.send("GET", path="/v1/healthz")
        assert json.loads(health.body)["tools"] == count
