"""A strict double of 3ds Max's Python, for tests: a small scene in memory with 3ds Max's manners.

An unknown function, class, event, parameter or property raises, as do a call from another thread, a
call of the bundle's after its unload, anything that would open a modal prompt, and, without
windows, what needs them. What isn't modelled raises NotImplementedError; nothing is accepted
silently.
"""

from __future__ import annotations

from ._fbx import new_settings
from ._runtime import run_redo, run_undo, runtime
from ._scene import Scene
from ._session import animate, attime, session, undo

__all__ = ["animate", "attime", "run_redo", "run_undo", "runtime", "undo"]


def _reset(*, windows: bool, usd: bool = True) -> None:
    """Begin with an empty scene, in a 3ds Max with or without windows, with or without USD."""
    session.reset(Scene, windows=windows, usd=usd)
    session.fbx = new_settings()


_reset(windows=False)
