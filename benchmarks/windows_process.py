"""A server on a Windows Python under Wine, while the client that measures it stays on Linux."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from server_process import Contender, ServerProcess

_RUNNER = Path(__file__).resolve().parent.parent / "packaging" / "windows_python.py"


class WindowsServers:
    """Starts servers with the Python that ``packaging/windows_python.py make FOLDER`` made."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._prefix = folder.resolve() / "prefix"
        (self._python,) = folder.resolve().glob("Python3*/python.exe")
        self._cache = cache
        # Make the Windows Python use this checkout.
        self._run(sys.executable, str(_RUNNER), "run", str(folder), "--", "-c", "pass")

    def packages(self, one: Contender) -> Path | None:
        """Return the folder with the contender's package. The first call installs it there."""
        if one.package is None:
            return None
        digits = self._python.parent.name.removeprefix("Python3")
        target = self._cache / f"windows-3.{digits}-{one.package.replace('==', '-')}"
        if not (target / "installed").exists():
            print(f"installing {one.package} for Windows …", file=sys.stderr)
            system = ("--platform", "win_amd64", "--python-version", f"3.{digits}")
            pip = (sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:")
            self._run(*pip, *system, "--target", str(target), one.package)
            (target / "installed").touch()
        return target

    def start(self, one: Contender, home: Path) -> ServerProcess:
        return WindowsServer(self._python, self._prefix, self.packages(one), one, home)

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True)


class WindowsServer(ServerProcess):
    """One running server. Its processor time is Linux's figure for its process, and doesn't include
    Wine's own server. Its memory isn't measured."""

    def __init__(
        self, python: Path, prefix: Path, packages: Path | None, one: Contender, home: Path
    ) -> None:
        self._wine_prefix = prefix
        self._packages = packages
        super().__init__(python, one.script, home, one.arguments)

    def _begin(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        python, script, *arguments = command
        mine = {name: text for name, text in environment.items() if not name.startswith("PYTHON")}
        more = {
            "WINEPREFIX": str(self._wine_prefix),
            "WINEDEBUG": "-all",
            "CALLBOARD_HOME": f"Z:{environment['CALLBOARD_HOME']}",
        }
        if self._packages is not None:
            more["PYTHONPATH"] = f"Z:{self._packages.resolve()}"
        process = subprocess.Popen(
            ["wine", python, f"Z:{script}", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Wine needs pipes for all three streams.
            stderr=subprocess.PIPE,
            env={**mine, **more},
            umask=0o077,
            text=True,
        )
        assert process.stderr is not None
        threading.Thread(
            target=_note, args=(process.stderr, self._log.fileno()), daemon=True
        ).start()
        return process


def _note(source: IO[str], log: int) -> None:
    with os.fdopen(os.dup(log), "w", encoding="utf-8") as target:
        for line in source:
            target.write(line)
