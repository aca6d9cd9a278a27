"""Runs callboard in 3dsmaxbatch, which runs this file and then exits:

    set CALLBOARD_ARGUMENTS=serve --host 3dsmax --port 8123
    3dsmaxbatch callboard_batch.py

Without that variable, callboard serves on a free port until it is asked to stop.
"""

import sys
from pathlib import Path

ours = str(Path(__file__).resolve().parents[1] / "python")
if ours not in sys.path:
    sys.path.append(ours)

from callboard_max.headless import main  # noqa: E402

code = main()
if code:
    sys.exit(code)
