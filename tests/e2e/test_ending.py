"""A server ends on request, whatever its tools do."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import DEADLINE, Program, callboard, environment
from waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a process can't be sent a signal there"),
]

SKILL = "---\nname: stuck\ndescription: Hangs.\nmetadata:\n  dcc-mcp:\n    tools: tools.yaml\n---\n"
TOOLS = """
tools:
  - {name: any_tool, description: Hangs on a worker., affinity: any, source_file: hang.py}
  - {name: main_tool, description: Hangs on the main thread., source_file: hang.py}
  - {name: native_tool, description: Hangs outside of Python., source_file: native.py}
  - {name: busy_tool, description: Keeps the interpreter for seconds., source_file: busy.py}
  - {name: later_tool, description: Ignores its cancellation., source_file: later.py}
"""
SCRIPTS = {
    "hang.py": "import threading\ndef main(marker):\n    open(marker, 'w').close()\n"
    "    threading.Event().wait()\n",
    # An endless wait in a system call, between two Python instructions.
    "native.py": "import ctypes\ndef main(marker):\n    open(marker, 'w').close()\n"
    "    libc = ctypes.CDLL(None)\n    libc.sigaction\n    while True: libc.sleep(1000)\n",
    # A single Python instruction, which no handler can interrupt. It lets other threads run.
    "busy.py": "import hashlib\ndef main(marker):\n    open(marker, 'w').close()\n"
    "    hashlib.pbkdf2_hmac('sha512', b'x', b'y', 4_000_000)\n",
    "later.py": "import asyncio\nasync def main(marker):\n    open(marker, 'w').close()\n"
    "    while True:\n        try:\n            await asyncio.sleep(1000)\n"
    "        except asyncio.CancelledError:\n            pass\n",
}


def hanging(folder: Path) -> Program:
    skill = folder / "skills" / "stuck"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "tools.yaml").write_text(TOOLS)
    for name, text in SCRIPTS.items():
        (skill / "scripts" / name).write_text(text)
    return Program(
        callboard("serve", "--skills", str(folder / "skills")), environment(folder / "home")
    )


def call(program: Program, folder: Path, tool: str) -> None:
    """Call a tool, and return once it hangs."""
    marker = folder / "marker"

    def forever() -> None:
        try:
            with FakeClient(program.url, program.token) as client:
                client.call("skills__load", {"name": "stuck"})
                client.request("tools/call", {"name": tool, "arguments": {"marker": str(marker)}})
        except Exception:
            pass  # The server has ended.

    threading.Thread(target=forever, daemon=True).start()
    until(marker.exists, "the tool to hang")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("tool", ["any_tool", "later_tool"])
def test_what_hangs_elsewhere_holds_up_no_end(tmp_path: Path, tool: str, number: int) -> None:
    program = hanging(tmp_path)
    with program:
        call(program, tmp_path, f"stuck__{tool}")
        program.process.send_signal(number)
        assert program.process.wait(DEADLINE) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("tool", ["main_tool", "native_tool"])
def test_a_second_signal_ends_what_hangs_on_the_main_thread(
    tmp_path: Path, tool: str, number: int
) -> None:
    program = hanging(tmp_path)
    with program:
        call(program, tmp_path, f"stuck__{tool}")
        end = monotonic() + DEADLINE
        code = None
        while code is None and monotonic() < end:
            program.process.send_signal(number)
            try:
                code = program.process.wait(0.6)
            except subprocess.TimeoutExpired:
                continue
        assert code == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_counts_once_however_late_the_main_thread_handles_it(
    tmp_path: Path, number: int
) -> None:
    """The main thread may be busy in native code, such as a render, when the signal arrives."""
    program = hanging(tmp_path)
    with program:
        call(program, tmp_path, "stuck__busy_tool")
        program.process.send_signal(number)
        assert program.process.wait(DEADLINE) == 0
