"""``breakpoint()`` in a tool, for a person at a terminal and for an editor that attaches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from callboard_programs.client import Client
from cli.terminals import terminal
from e2e.debug_client import DebugClient
from e2e.serving import DEADLINE, Program, callboard, environment
from needed import need
from skills.skill_tree import write_skill

pytestmark = pytest.mark.slow
need("pxr")

TOOL = """\
def main(n):
    print("before")
    breakpoint()
    n += 1
    return {"n": n}
"""
FILES = {
    "tools.yaml": "tools:\n- {name: look, description: d, timeout_hint_secs: 0.5}\n",
    "scripts/look.py": TOOL,
    "tests/conftest.py": "from callboard_testing.pytest_plugin import *\n",
    "tests/test_look.py": """\
        def test_look(callboard_skill):
            assert callboard_skill.call("look", n=41)["n"] == 42
        """,
}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return write_skill(tmp_path / "skills", "my-skill", files=FILES)


def calling(url: str, token: str | None) -> SimpleQueue[Any]:
    """Call the tool in a thread. Return the queue that will receive the result."""
    results: SimpleQueue[Any] = SimpleQueue()

    def call() -> None:
        with Client(url, token) as client:
            params = {"name": "my_skill__look", "arguments": {"n": 1}}
            answer = client.request("tools/call", params)
        results.put(answer)

    threading.Thread(target=call, daemon=True).start()
    return results


needs_terminals = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")


@needs_terminals
def test_under_serve_the_debugger_talks_at_the_terminal_and_time_stands_still(skill, tmp_path):
    command = callboard("serve", "--skills", str(skill))
    with terminal(command, tmp_path / "home", stdout=subprocess.PIPE) as shown:
        ready = json.loads(shown.process.stdout.readline())
        result = calling(ready["url"], ready["token"])
        shown.until("(Pdb) ")
        shown.type("import time; time.sleep(0.7); n = 41")  # This exceeds the tool's time limit.
        shown.until("(Pdb) ")
        shown.type("p 'it is', n")
        assert "('it is', 41)" in shown.until("(Pdb) ")
        shown.type("continue")
        answer = result.get(timeout=DEADLINE)
        shown.process.send_signal(signal.SIGINT)  # Without the debugger, one signal is enough.
        assert shown.process.wait(DEADLINE) == 0
    assert answer["structuredContent"] == {"n": 42}
    assert answer["_meta"]["callboard/stdout"] == "before\n"


@needs_terminals
def test_under_pytest_without_capture_too(skill, tmp_path):
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", str(skill)]
    with terminal(command, tmp_path / "home") as shown:
        shown.until("(Pdb) ")
        shown.type("p 'it is', n")
        assert "('it is', 41)" in shown.until("(Pdb) ")
        shown.type("continue")
        shown.until("1 passed")


@pytest.mark.parametrize("chosen", [{}, {"PYTHONBREAKPOINT": "0"}], ids=["default", "none"])
def test_where_nobody_sits_at_a_terminal_the_tool_goes_on_and_the_log_says_so(
    skill, tmp_path, capfd, chosen
):
    command = callboard("serve", "--skills", str(skill))
    with Program(command, {**environment(tmp_path / "home"), **chosen}) as server:
        answer = calling(server.url, server.token).get(timeout=DEADLINE)
    assert answer["structuredContent"] == {"n": 2}
    assert answer["_meta"]["callboard/stdout"] == "before\n"
    warned = "breakpoint() at look.py:3 is skipped" in capfd.readouterr().err
    assert warned == (not chosen)


def test_an_editor_attaches_and_stops_in_a_tool(skill, tmp_path, capfd):
    need("debugpy")
    script = skill / "scripts" / "look.py"
    longer_than_it_may_take = "    __import__('time').sleep(0.7)\n"
    script.write_text(TOOL.replace("    breakpoint()\n", longer_than_it_may_take), encoding="utf-8")
    command = callboard("serve", "--skills", str(skill), "--debugpy", "0")
    with Program(command, environment(tmp_path / "home")) as server:
        announced = capfd.readouterr().err
        port = int(announced.partition("debugger to 127.0.0.1:")[2].split()[0])
        with DebugClient(port) as editor:
            editor.attach(script, line=4)
            result = calling(server.url, server.token)
            assert editor.stopped_at() == ("main", str(script), 4)
            editor.go_on()
            answer = result.get(timeout=DEADLINE)
    assert answer["structuredContent"] == {"n": 2}
