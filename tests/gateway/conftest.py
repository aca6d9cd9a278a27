"""A separate home for the instances and gateways of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_thread import RunningGateway, running_gateway


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def gateway() -> Iterator[RunningGateway]:
    with running_gateway() as running:
        yield running
