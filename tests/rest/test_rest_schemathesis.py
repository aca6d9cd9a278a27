"""Sends hundreds of generated requests to a running server. None of them makes it fail, and none
gets a response that the OpenAPI document doesn't list."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from e2e.client_environments import python_with
from rest.test_rest import FILES
from serving import served
from skills.skill_tree import write_skill

pytestmark = pytest.mark.slow


@pytest.mark.timeout(600)
def test_schemathesis_finds_nothing(tmp_path, monkeypatch):
    program = Path(python_with("schemathesis==4.32.5")).with_name("schemathesis")
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    block = "tools: tools.yaml\nprompts: prompts.yaml"
    write_skill(tmp_path / "skills", "s", block=block, files=FILES)
    with served(skills=True, skill_paths=[tmp_path / "skills"]) as running:
        url = running.app.url.removesuffix("/mcp")
        done = subprocess.run(
            [
                str(program),
                "run",
                f"{url}/v1/openapi.json",
                "--header",
                f"Authorization: Bearer {running.app.token}",
                "--max-examples=15",
                # The list of prompts states the arguments that a prompt needs, but the OpenAPI
                # document doesn't.
                "--exclude-checks=positive_data_acceptance",
                "--suppress-health-check=all",
                "--no-color",
                # A job's stream of events stays open until the job ends.
                "--request-timeout=20",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
