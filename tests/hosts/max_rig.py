"""3ds Max for tests: 3ds Max itself under ``3dsmaxbatch``, or else the double."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DOUBLE = Path(__file__).parent / "doubles" / "max"
REAL = find_spec("pymxs") is not None
if not REAL:
    sys.path.append(str(DOUBLE))

import pymxs

#: The bundle as installed in 3ds Max.
BUNDLE = Path(__file__).parents[2] / "hosts/callboard_max/bundle"


def new_max(*, windows: bool, usd: bool = True) -> None:
    """Begin with an empty scene, in a 3ds Max with or without a GUI. 3dsmaxbatch never has
    windows."""
    if REAL:
        pymxs.runtime.resetMaxFile(pymxs.runtime.Name("noPrompt"))
        return
    pymxs._reset(windows=windows, usd=usd)


def max_host(post: Callable[[Callable[[], None]], None]) -> closing[Any]:
    from callboard_max.host import MaxHost

    return closing(MaxHost(post))
