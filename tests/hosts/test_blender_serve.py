"""``callboard serve --host blender`` ends on request, every time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, callboard, environment
from needed import needs

pytestmark = [
    pytest.mark.slow,
    needs("bpy"),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to end it with"),
]

#: Blender as a module crashed or hung at some exits, but not at every one.
PROCESSES, AT_ONCE = 4, 2


def serve_once(home: Path) -> tuple[int, list[str]]:
    """Return the process's exit code, and the temporary files that it left."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True)
    env = {**environment(home), "TMPDIR": str(temporary)}
    with Program(callboard("serve", "--host", "blender"), env) as program:
        with FakeClient(program.url, program.token) as client:
            client.call("scene__create_primitive", {"kind": "cube"})
        program.process.terminate()
        try:
            code = program.process.wait(30)
        except subprocess.TimeoutExpired:
            program.kill()
            return -1, []
    return code, [path.name for path in temporary.iterdir()]


def test_it_ends_with_its_server(tmp_path: Path) -> None:
    endings: list[tuple[int, list[str]]] = []

    def some(first: int) -> None:
        for number in range(first, PROCESSES, AT_ONCE):
            endings.append(serve_once(tmp_path / str(number)))

    threads = [threading.Thread(target=some, args=(first,)) for first in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert endings == [(0, [])] * PROCESSES
