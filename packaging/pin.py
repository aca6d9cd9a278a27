"""Writes constraints.txt, which gives one exact version of every package for Python 3.10 to 3.14.

Run it with any Python that has `uv` (`pip install uv`):

    python packaging/pin.py            # keeps the pins that still fit
    python packaging/pin.py --upgrade  # takes the newest versions that fit
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
HEADER = (
    "# Written by packaging/pin.py from pyproject.toml: do not edit.\n"
    "# Exact versions for Python 3.10 to 3.14 on Linux, macOS and Windows.\n"
)


def main() -> int:
    target = PROJECT / "constraints.txt"
    compiled = subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--universal", "--all-extras"),
            *("--python-version", "3.10", "--no-python-downloads"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            *("--quiet", "--output-file", str(target), *sys.argv[1:], "pyproject.toml"),
        ],
        cwd=PROJECT,
        check=False,
    )
    if compiled.returncode:
        return compiled.returncode
    target.write_text(HEADER + target.read_text(encoding="utf-8"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
