"""The resources that a machine's hosts offer without being configured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard_programs.farm.machine import offers
from needed import need

need("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a shell script replaces the driver's program"),
]


def test_memory_and_graphics_processors_are_shared_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (whole,) = offers()
    assert set(whole) == {"memory"}
    assert offers(0) == []

    driver = tmp_path / "nvidia-smi"
    card = "GPU {}: NVIDIA RTX A4000 (UUID: GPU-{})"
    driver.write_text(f"#!/bin/sh\necho '{card}'\necho '{card}'\n")
    driver.chmod(0o700)
    shares = offers(3)
    assert [share.get("gpu") for share in shares] == [1.0, 1.0, None]
    assert {share["memory"] for share in shares} == {whole["memory"] // 3}

    driver.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    assert "gpu" not in offers()[0]
