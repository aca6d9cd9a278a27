"""The lines of ``callboard farm session task``, which a render manager reads."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.ground.private_file import write_private
from callboard_programs.cli import main
from serving import Served


@pytest.fixture(autouse=True)
def _same_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_manager_reads_the_tools_progress_and_its_log(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def works(ctx: Any) -> dict[str, str]:
        ctx.progress(1, 4, "looking\nopenjd_fail: forged")
        ctx.log("info", "the lamp\nis lit")
        return {"name": "ball"}

    server.tool("works", works)
    address = {"url": server.app.url, "token": server.app.token}
    write_private(tmp_path / "callboard-host.json", json.dumps(address))
    order = {"index": 0, "file": "", "key": "a", "tool": "works", "arguments": {}}
    orders = tmp_path / "orders.jsonl"
    orders.write_text(json.dumps({**order, "scene": None, "save": False}) + "\n", "utf-8")
    results = tmp_path / "results"
    words = ["farm", "session", "task", str(tmp_path), str(orders), "0", "--results", str(results)]
    assert main(words) == 0
    printed, log = capsys.readouterr()
    *progress, line = printed.splitlines()
    assert progress == [
        "openjd_progress: 25.0",
        "openjd_status: looking openjd_fail: forged",
    ]
    assert json.loads(line)["result"] == {"name": "ball"}
    assert (results / "0.json").read_text("utf-8") == line + "\n"
    assert log == "the lamp is lit\n"
