"""Interrupts a look-up in OpenUSD's index of names at each of its lines. It runs in a separate
process, because another test's trace function would count lines too."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from pxr import Sdf, Usd, UsdGeom

from callboard_openusd.application import names
from callboard_openusd.application.names import NameIndex

#: More lines than a look-up has.
MOST = 1000


class Interrupted(BaseException):
    """Imitates the exception that ends a call, which may come between any two lines."""


def main() -> None:
    done = False
    for lines in range(1, MOST):
        stage = Usd.Stage.CreateInMemory()
        for name in "abcd":
            UsdGeom.Cube.Define(stage, f"/World/{name}")
        index = NameIndex(stage)
        assert index.find("a")
        for name in "efg":
            UsdGeom.Cube.Define(stage, f"/World/{name}")
            index.prims_changed(Sdf.Path(f"/World/{name}"))
        left = lines

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename != names.__file__:
                return None
            left -= event == "line"
            if left == 0:
                raise Interrupted
            return trace

        sys.settrace(trace)
        try:
            index.find("g")
            done = True
        except Interrupted:
            pass
        finally:
            sys.settrace(None)
        assert index.find("g").GetPath() == Sdf.Path("/World/g")
        assert index.paths == NameIndex(stage).paths, lines
        if done:
            break
    assert done
    assert lines > 20


main()
