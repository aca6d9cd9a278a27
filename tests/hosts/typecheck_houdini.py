"""Type-checks the Houdini adapter against the published stubs.

    python tests/hosts/typecheck_houdini.py

pip fetches types-houdini into a temporary folder. Needs mypy and PySide6 in the environment that
runs it. The stubs themselves aren't strict, so mypy's messages about them are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STUBS = "types-houdini==21.0.512"
PIP = (sys.executable, "-m", "pip", "install", "-q", "--no-deps")
MYPY = (sys.executable, "-m", "mypy", "--follow-imports", "silent", "--no-error-summary")
CHECKED = ("hosts/callboard_houdini", "hosts/callboard_qt")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="callboard-stubs-") as folder:
        subprocess.run([*PIP, "--target", folder, STUBS], check=True)
        Path(folder, "hou-stubs").rename(Path(folder, "hou"))
        done = subprocess.run(
            [*MYPY, "--cache-dir", str(Path(folder, "cache")), *CHECKED],
            cwd=PROJECT,
            env={**os.environ, "MYPYPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    ours = [line for line in done.stdout.splitlines() if line.startswith("hosts")]
    print("\n".join(ours) or f"no errors in {', '.join(CHECKED)}", done.stderr, sep="\n")
    return 1 if ours or done.returncode not in (0, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
