"""The cost of a scene's size, in Blender and on OpenUSD stages, compared with the application's own
time for the same change.

    python benchmarks/scenes.py [blender | openusd] [arguments for that half]

Each half is a separate program, and runs in a separate process: ``scenes_blender.py`` and
``scenes_openusd.py``. If neither is named, both run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HALVES = {"blender": "scenes_blender.py", "openusd": "scenes_openusd.py"}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--help"]:
        print(__doc__)
        return 0
    named = arguments[:1] if arguments and arguments[0] in HALVES else []
    codes = [
        subprocess.run(
            [sys.executable, str(Path(__file__).with_name(HALVES[half])), *arguments[len(named) :]],
            check=False,
        ).returncode
        for half in named or HALVES
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
