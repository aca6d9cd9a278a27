"""Type-checks the Maya adapter against the published stubs.

    python tests/hosts/typecheck_maya.py

types-maya has the exact flags of the commands, and maya-stubs has all of the API. Both install the
same package, so pip fetches them into a temporary folder, where they are merged. Needs mypy and
PySide6 in the environment that runs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STUBS = {"types-maya": "0.6.1", "maya-stubs": "0.4.2"}
PIP = (sys.executable, "-m", "pip", "install", "-q", "--no-deps")
MYPY = (sys.executable, "-m", "mypy")
CHECKED = ("hosts/callboard_maya", "hosts/callboard_qt")
#: Modules from types-maya that replace the modules of the same name from maya-stubs.
EXACT = ("cmds", "mel", "standalone")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="callboard-stubs-") as folder:
        for name, version in STUBS.items():
            target = str(Path(folder, name))
            subprocess.run(
                [*PIP, "--target", target, f"{name}=={version}"],
                check=True,
            )
        joined = Path(folder, "joined", "maya")
        shutil.copytree(Path(folder, "maya-stubs", "maya-stubs"), joined)
        for name in EXACT:
            shutil.rmtree(joined / name, ignore_errors=True)
            shutil.copy(Path(folder, "types-maya", "maya-stubs", f"{name}.pyi"), joined)
        return subprocess.run(
            [*MYPY, "--cache-dir", str(Path(folder, "cache")), *CHECKED],
            cwd=PROJECT,
            env={**os.environ, "MYPYPATH": str(joined.parent)},
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
