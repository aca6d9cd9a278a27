"""Tests callboard inside 3ds Max without a GUI; see first_run.md. 3dsmaxbatch doesn't pass on
arguments from its command line:

    set CALLBOARD_ARCHIVE=callboard-3dsmax-VERSION.zip
    3dsmaxbatch first_run_3dsmax.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

from first_run import run


def _version() -> str:
    from pymxs import runtime as rt

    return str(list(rt.maxVersion()))


def _count() -> int:
    from pymxs import runtime as rt

    return int(rt.theHold.GetGlobalPutCount())


def _count_rests(host: Any) -> object:
    return _count() - _count()


def _holding(host: Any) -> object:
    from pymxs import runtime as rt

    return bool(rt.theHold.Holding())


def _undone_at_once(host: Any) -> object:
    from pymxs import runtime as rt

    before = len(list(rt.objects))
    token = host.undo.begin("callboard: a step")
    rt.Box()
    undone = host.undo.undo(host.undo.commit(token))
    return undone, len(list(rt.objects)) - before


def _off_inside_on(host: Any) -> object:
    import pymxs
    from pymxs import runtime as rt

    token = host.undo.begin("callboard: nothing")
    with pymxs.undo(False):
        box = rt.Box()
        rt.delete(box)
    return repr(host.undo.commit(token))


def _moves_locked(host: Any) -> object:
    from pymxs import runtime as rt

    box = rt.Box()
    try:
        rt.setTransformLockFlags(box, rt.Name("all"))
        place = rt.Point3(1.0, 0.0, 0.0)
        rows = (rt.Point3(1.0, 0.0, 0.0), rt.Point3(0.0, 1.0, 0.0), rt.Point3(0.0, 0.0, 1.0))
        box.transform = rt.Matrix3(*rows, place)
        return str(rt.getTransformLockFlags(box)), float(box.transform.row4.x)
    finally:
        rt.delete(box)


if __name__ == "__main__":
    code = run(
        "3dsmax",
        os.environ.get("CALLBOARD_ARCHIVE", ""),
        _version,
        {
            "The count of changes rests by itself (expected: 0)": _count_rests,
            "an undo has undone, and told, when it returns (expected: (True, 0))": _undone_at_once,
            "no step is open between two calls (expected: False)": _holding,
            "undo(False) inside undo(True) records nothing (expected: None)": _off_inside_on,
            "a lock's flags, and whether a script moves it (expected: #{1..9}, any)": _moves_locked,
        },
    )
    if code:
        sys.exit(code)
