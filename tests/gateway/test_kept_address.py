"""The gateway runs even if its address can't be saved."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from gateway_thread import running_gateway


def test_a_gateway_serves_where_its_address_can_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    home.write_text("no folder")
    monkeypatch.setenv("CALLBOARD_HOME", str(home))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running_gateway(port) as gateway, gateway.client() as client:
        client.initialize()
    assert "can't be saved" in caplog.text
