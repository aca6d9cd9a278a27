"""The index of an OpenUSD stage's objects."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from needed import need


class Interrupted(BaseException):
    """Stands for the end of a call, which may come between any two lines."""


def test_a_look_up_that_was_interrupted_anywhere_leaves_the_index_right() -> None:
    need("pxr")
    from pxr import Sdf, Usd, UsdGeom

    from callboard_openusd.application.names import NameIndex

    lines = 0
    done = False
    while not done:
        stage = Usd.Stage.CreateInMemory()
        for name in "abcd":
            UsdGeom.Cube.Define(stage, f"/World/{name}")
        index = NameIndex(stage)
        assert index.find("a")
        for name in "efg":
            UsdGeom.Cube.Define(stage, f"/World/{name}")
            index.prims_changed(Sdf.Path(f"/World/{name}"))
        lines += 1
        left = lines

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.endswith("names.py"):
                return None
            left -= event == "line"
            if left == 0:
                raise Interrupted
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            index.find("g")
            done = True
        except Interrupted:
            pass
        finally:
            sys.settrace(before)
        assert index.find("g").GetPath() == Sdf.Path("/World/g")
        assert index.paths == NameIndex(stage).paths, lines
    assert lines > 20
