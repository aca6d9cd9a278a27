"""Runs the adapter's tests and the compliance suite inside 3ds Max, under 3dsmaxbatch.

    3dsmaxbatch tests/hosts/run_in_3dsmaxbatch.py

``CALLBOARD_TEST_LIBS`` names a folder with the packages that the tests import (README.md explains
how to fill it). pytest's output is also written to ``callboard-3dsmax.txt`` in the temporary
folder, because 3dsmaxbatch shows little of what a script prints.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBS = os.environ.get("CALLBOARD_TEST_LIBS", "")
sys.path += [*([LIBS] if LIBS else []), str(PROJECT / "core"), str(PROJECT / "hosts")]


def main() -> int:
    import pytest

    return int(pytest.main([str(PROJECT / "tests/hosts/test_max.py"), "-q"]))


if __name__ == "__main__":
    report = Path(tempfile.gettempdir(), "callboard-3dsmax.txt")
    with (
        report.open("w", encoding="utf-8") as stream,
        redirect_stdout(stream),
        redirect_stderr(stream),
    ):
        code = main()
    print(report.read_text(encoding="utf-8"))
    if code:
        sys.exit(code)
