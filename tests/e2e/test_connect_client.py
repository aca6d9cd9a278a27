"""The client program on docs/connect.md, with the official packages of both eras."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.client_environments import INSTALL_TIMEOUT, python_with
from e2e.serving import PROJECT, serve

pytestmark = pytest.mark.timeout(INSTALL_TIMEOUT + 60)


def program() -> str:
    page = (PROJECT / "docs" / "connect.md").read_text("utf-8")
    (only,) = re.findall(r"```python elsewhere\n(.*?)```", page, re.S)
    return str(only)


@pytest.mark.parametrize("package", ["mcp>=1.30,<2", "mcp>=2.3,<3"])
def test_it_makes_a_ball(tmp_path: Path, package: str) -> None:
    python = python_with(package)
    with serve(tmp_path) as host:
        text = program().replace("http://127.0.0.1:PORT/mcp", host.url)
        text = text.replace("…", host.token or "")
        done = subprocess.run(
            [python, "-c", text], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        with FakeClient(host.url, host.token) as client:
            objects = client.call("scene__list_objects")["structuredContent"]["objects"]
    assert [each["name"] for each in objects] == ["ball"]
    assert "ball" in done.stdout
