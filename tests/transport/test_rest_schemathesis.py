"""Hundreds of generated requests against a running server: none fails it, none gets another answer
than the document says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from serving import served
from skills.skill_tree import write_skill
from transport.test_rest import FILES


def program() -> str | None:
    beside = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    return os.environ.get("SCHEMATHESIS") or beside or shutil.which("schemathesis")


@pytest.mark.skipif(
    program() is None,
    reason="schemathesis is not installed; pip install schemathesis, or name it in $SCHEMATHESIS",
)
@pytest.mark.timeout(300)
def test_schemathesis_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    block = "tools: tools.yaml\nprompts: prompts.yaml"
    write_skill(tmp_path / "skills", "s", block=block, files=FILES)
    with served(skills=True, skill_paths=[tmp_path / "skills"]) as running:
        url = running.app.url.removesuffix("/mcp")
        done = subprocess.run(
            [
                program(),
                "run",
                f"{url}/v1/openapi.json",
                "--header",
                f"Authorization: Bearer {running.app.token}",
                "--max-examples=30",
                # Which arguments a prompt wants is in the list of prompts, not in the document.
                "--exclude-checks=positive_data_acceptance",
                "--suppress-health-check=all",
                "--no-color",
                # A job's events go on until it ends.
                "--request-timeout=20",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
