"""Runs a program in its own pseudo-terminal, on systems that have them."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from e2e.serving import DEADLINE, environment
from needed import need


class Terminal:
    """Runs a program in a pseudo-terminal, and reads its output."""

    def __init__(self, command: list[str], home: Path, **options: Any) -> None:
        import pty

        need("terminals")

        self._own, other = pty.openpty()
        streams = {"stdin": other, "stdout": other, "stderr": other, **options}
        self.process = subprocess.Popen(command, env=environment(home), **streams)
        os.close(other)
        self._shown = ""

    def until(self, text: str) -> str:
        """Wait for the text. Return the output up to it, starting where the previous call ended."""
        deadline = monotonic() + DEADLINE
        while text not in self._shown:
            ready, _, _ = select.select([self._own], [], [], max(0.0, deadline - monotonic()))
            assert ready, f"no {text!r} in {self._shown!r}"
            try:
                self._shown += os.read(self._own, 4096).decode()
            except OSError:  # Linux: the other end is closed
                raise AssertionError(f"{text!r} isn't in the output {self._shown!r}") from None
        before, _, self._shown = self._shown.partition(text)
        return before

    def type(self, line: str) -> None:
        os.write(self._own, line.encode() + b"\n")

    def close(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._own)


@contextmanager
def terminal(command: list[str], home: Path, **options: Any) -> Iterator[Terminal]:
    it = Terminal(command, home, **options)
    try:
        yield it
    finally:
        it.close()
