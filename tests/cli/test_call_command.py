"""``callboard call``: where its arguments come from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from serving import served

GIVEN = {"name": "Würfel"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_arguments_may_come_through_a_pipe(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a shell takes quotes away, as PowerShell does; some pipes begin with a mark."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))

    def echo(**given: Any) -> dict[str, Any]:
        return given

    with served(announce=True) as server:
        server.tool("echo", echo)
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "call", "echo", "--json", "-"],
            input=json.dumps(GIVEN, ensure_ascii=False).encode(encoding),
            capture_output=True,
        )
    assert json.loads(done.stdout) == GIVEN, done.stderr
