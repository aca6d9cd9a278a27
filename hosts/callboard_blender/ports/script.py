"""The ``script.execute`` port: running the agent's code."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import bpy

from callboard.host import run_python
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.modes import put_back
from callboard_blender.application.names import forget
from callboard_blender.application.undo import marked
from callboard_blender.application.views import find_view


class BlenderScripts:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def languages(self) -> list[str]:
        return ["python"]

    def execute(self, code: str, language: str) -> object:
        """Run the code. Python code can use ``bpy`` without importing it. Operators run in the
        artist's mode, with the 3D view that they expect. The mode is restored when the call ends,
        even if the code has changed it."""
        self._changes.touch()
        with marked(), _in_the_view():
            try:
                put_back(self._changes.mode)
                return run_python(code, {"bpy": bpy})
            finally:
                forget()


def _in_the_view() -> AbstractContextManager[Any]:
    view = find_view()
    if view is None or view.window is None:
        return nullcontext()
    override: AbstractContextManager[Any] = bpy.context.temp_override(
        window=view.window, area=view.area, region=view.region
    )
    return override
