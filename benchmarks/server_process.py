"""A server being measured: its own process, in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from load_client import Target

_SERVERS = Path(__file__).resolve().parent / "servers"


@dataclass(frozen=True)
class Contender:
    """A server to be measured. ``script`` is a file below ``servers``, or anywhere if its path is
    absolute. ``package`` is the package that it needs, or None for callboard. ``python`` is its
    interpreter, or None for this one."""

    name: str
    script: str
    package: str | None = None
    arguments: tuple[str, ...] = ()
    python: Path | None = None

    def interpreter(self, cache: Path) -> Path:
        """Return a Python interpreter that has the package, which is installed below ``cache`` the
        first time."""
        if self.package is None:
            return self.python or Path(sys.executable)
        folder = cache / self.package.replace("==", "-")
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        done = folder / "installed"
        if not done.exists():
            print(f"installing {self.package} …", file=sys.stderr)
            venv.create(folder, with_pip=True, clear=True)
            command = [str(python), "-m", "pip", "install", "--quiet", self.package]
            subprocess.run(command, check=True)
            done.touch()
        return python


class ServerProcess:
    """One running server. ``facts`` is its ready line (see servers/process_facts.py)."""

    def __init__(
        self, python: Path, script: str, home: Path, arguments: Sequence[str] = ()
    ) -> None:
        # Bytecode goes below the home, so that none is written into a checkout.
        environment = {
            **os.environ,
            "CALLBOARD_HOME": str(home),
            "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [str(python), str(_SERVERS / script), *arguments]
        self._log = (home / f"{Path(script).name}.log").open("ab")
        self._process = self._begin(command, environment)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError(f"{script} did not start; see {self._log.name}")
        self.facts: dict[str, Any] = json.loads(line)

    def _begin(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._log, env=environment, text=True
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def target(self) -> Target:
        return Target(self.facts["url"], self.facts["token"])

    def status(self, field: str) -> int:
        """Return a number from ``/proc/PID/status``: VmRSS in KiB, Threads … (Linux)."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
        raise LookupError(field)

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def cpu_seconds(self) -> float:
        """Return the user and system time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """Stop the server, and return its exit status."""
        self._process.terminate()
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
        return status
