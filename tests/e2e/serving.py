"""Runs ``callboard serve`` as a separate process, and reads the contents of its home."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

PROJECT = Path(__file__).resolve().parent.parent.parent
SKILLS = Path(__file__).resolve().parent / "skills"
#: Seconds within which a process must have started, or ended.
DEADLINE = 180.0


def environment(home: Path) -> dict[str, str]:
    """Return a child process's environment, with its own home and the sources of this project."""
    roots = [str(PROJECT / name) for name in ("core", "hosts")]
    return {**os.environ, "CALLBOARD_HOME": str(home), "PYTHONPATH": os.pathsep.join(roots)}


def callboard(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "callboard", *arguments]


@dataclass
class Program:
    """A program that prints one line of JSON once it is serving, and ends on request."""

    command: list[str]
    env: Mapping[str, str]
    #: The program's working folder, or None for the current one.
    cwd: Path | None = None

    def __enter__(self) -> Program:
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, env=dict(self.env), text=True, cwd=self.cwd
        )
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        stdout = self.process.stdout
        assert stdout is not None

        def read() -> None:
            for line in stdout:
                lines.put(line)
            lines.put("")

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        line = lines.get(timeout=DEADLINE)
        if not line:
            raise AssertionError(f"{self.command} ended with {self.process.wait(DEADLINE)}")
        ready = json.loads(line)
        assert ready["event"] == "ready", ready
        #: The line that it printed.
        self.line = line
        self.url: str = ready.get("url", "")
        self.token: str | None = ready.get("token")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self._ended()

    def kill(self) -> None:
        """Kill the program, without giving it a chance to clean up."""
        self.process.kill()
        self._ended()

    def _ended(self) -> None:
        self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        if self.process.stdout is not None:
            self.process.stdout.close()


def serve(home: Path, *arguments: str) -> Program:
    """Return a host with the skill ``probe``."""
    command = callboard("serve", "--skills", str(SKILLS), *arguments)
    return Program(command, environment(home))
