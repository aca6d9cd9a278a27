"""Keeps a process's stdout free of what its host prints, for the program that reads it."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def keep_stdout_clean() -> TextIO:
    """Send everything that the host prints, even from C, to stderr, because programs read what
    callboard writes to stdout. Return a stream that still writes to stdout."""
    clean = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return clean
