"""A strict double of 3ds Max's Python, for tests: a small scene in memory that behaves like 3ds
Max's.

An unknown function, class, event, parameter or property raises. So does a call from another thread,
a call by the bundle after it was unloaded, anything that would open a modal prompt and, without
windows, anything that needs them. Whatever isn't modelled raises NotImplementedError. Nothing is
accepted silently.
"""

from __future__ import annotations

from ._fbx import new_settings
from ._runtime import run_redo, run_undo, runtime
from ._scene import Scene
from ._session import animate, attime, session, undo

__all__ = ["animate", "attime", "run_redo", "run_undo", "runtime", "undo"]


def _reset(*, windows: bool, usd: bool = True) -> None:
    """Begin with an empty scene, in a 3ds Max with or without a GUI, with or without USD."""
    session.reset(Scene, windows=windows, usd=usd)
    session.fbx = new_settings()


_reset(windows=False)
