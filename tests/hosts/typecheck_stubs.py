"""Type-checks the adapters of Houdini and Maya against the published stubs of their applications.

    python tests/hosts/typecheck_stubs.py

pip fetches the stubs into a temporary folder. For Maya, types-maya has the exact flags of the
commands, and maya-stubs has all of the API. Both install the same package, so they are merged.
Needs mypy and PySide6 in the environment that runs it. Houdini's stubs themselves aren't strict, so
mypy's messages about stubs are left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STUBS = {"types-houdini": "21.0.512", "types-maya": "0.6.1", "maya-stubs": "0.4.2"}
PIP = (sys.executable, "-m", "pip", "install", "-q", "--no-deps")
MYPY = (sys.executable, "-m", "mypy", "--follow-imports", "silent", "--no-error-summary")
CHECKED = ("hosts/callboard_houdini", "hosts/callboard_maya", "hosts/callboard_qt")
#: Modules from types-maya that replace the modules of the same name from maya-stubs.
EXACT = ("cmds", "mel", "standalone")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="callboard-stubs-") as folder:
        stubs = merged(Path(folder))
        done = subprocess.run(
            [*MYPY, "--cache-dir", str(Path(folder, "cache")), *CHECKED],
            cwd=PROJECT,
            env={**os.environ, "MYPYPATH": str(stubs)},
            capture_output=True,
            text=True,
            check=False,
        )
    ours = [line for line in done.stdout.splitlines() if line.startswith("hosts")]
    print("\n".join(ours) or f"no errors in {', '.join(CHECKED)}", done.stderr, sep="\n")
    return 1 if ours or done.returncode not in (0, 1) else 0


def merged(folder: Path) -> Path:
    """Return a folder with the stubs of both applications."""
    for name, version in STUBS.items():
        target = str(Path(folder, name))
        subprocess.run([*PIP, "--target", target, f"{name}=={version}"], check=True)
    stubs = folder / "stubs"
    shutil.copytree(folder / "types-houdini" / "hou-stubs", stubs / "hou")
    shutil.copytree(folder / "maya-stubs" / "maya-stubs", stubs / "maya")
    for name in EXACT:
        shutil.rmtree(stubs / "maya" / name, ignore_errors=True)
        shutil.copy(folder / "types-maya" / "maya-stubs" / f"{name}.pyi", stubs / "maya")
    return stubs


if __name__ == "__main__":
    sys.exit(main())
