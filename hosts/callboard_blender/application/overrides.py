"""Guards operators inside ``temp_override``, which up to Python 3.11 need the interpreter to
themselves.

An operator releases the interpreter lock while it runs, and takes the lock when it needs it. Inside
``temp_override`` Blender looks up parts of the context in a Python dictionary, and takes the lock
only if no thread at all holds it. From Python 3.12 on, that check covers only its own thread.
In earlier versions, another thread that runs Python at that moment crashes Blender (see
docs/decisions/0392).

Blender looks nothing up while it renders a frame, because a render doesn't use the context. So the
threads run during that time. Blender's handlers say when it begins and ends.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import bpy

from callboard.host import ThreadPause
from callboard_blender.application.handlers import Handlers

#: True if this version of Blender has the fault.
NEEDED = sys.version_info < (3, 12)

#: Overrides that may be active because something else refers to them, such as a with block. The
#: overrides aren't wrapped, because an exception inside a wrapper would leave Blender's own
#: override entered.
_made: list[Any] = []
#: The reference count of an override during the check, if nothing but this module refers to it.
_OURS = 3
#: The number of hosts, and the functions that restore Blender's own functions.
_hosts = 0
_restore: list[Callable[[], None]] = []


class _LiftedByRenders:
    """Pauses that end before a frame is rendered, and begin again afterwards. Use it on the main
    thread. The handlers that it adds may run on a render's thread."""

    def __init__(self) -> None:
        self._main = threading.get_ident()
        #: The outermost pause: while it is in force, and while a render has lifted it.
        self._current: ThreadPause | None = None
        self._lifted: ThreadPause | None = None
        self._handlers = Handlers()
        self._handlers.add("render_pre", self._lift)
        # If an exception that another thread requested arrives as the first of these handlers
        # begins, the next one does the work.
        for name in ("render_post", "render_complete", "render_cancel"):
            self._handlers.add(name, self._resume)

    def pause(self, work: Callable[[], Any]) -> Any:
        """Do the work during a pause."""
        pause, before = ThreadPause(), (self._current, self._lifted)
        try:
            # A handler that a render calls may in turn call operators.
            self._current, self._lifted = self._current or pause, None
            with pause:
                return work()
        finally:
            self._current, self._lifted = before

    def close(self) -> None:
        self._handlers.remove()

    def _lift(self) -> None:
        pause = self._current
        if pause is not None and threading.get_ident() == self._main:
            self._current, self._lifted = None, pause
            pause.__exit__()

    def _resume(self) -> None:
        pause = self._lifted
        if pause is not None and threading.get_ident() == self._main:
            pause.__enter__()
            self._current, self._lifted = pause, None


def _in_one() -> bool:
    """Return whether an override may be active. Also forget overrides that nothing else refers
    to."""
    if _made:
        _made[:] = [made for made in _made if sys.getrefcount(made) > _OURS]
    return bool(_made)


def guard() -> Callable[[], None]:
    """Ensure that every operator run inside an override suspends callboard's threads, whatever code
    calls the operator. Return a function that reverses this call. Once every host has called its
    function, operators no longer suspend threads. Call both functions on the main thread. The
    returned function is idempotent."""
    global _hosts
    _hosts += 1
    if NEEDED and _hosts == 1:
        # Blender as a module hangs on exit if its types still hold Python objects.
        _restore.append(atexit.register(_wrap()))
    left = False

    def leave() -> None:
        nonlocal left
        global _hosts
        if left:
            return
        left = True
        _hosts -= 1
        while not _hosts and _restore:
            restore = _restore.pop()
            atexit.unregister(restore)
            restore()

    return leave


def _wrap() -> Callable[[], None]:
    operators: Any = sys.modules["bpy.ops"]
    context: Any = bpy.types.Context
    call, override = operators._op_call, context.temp_override
    main = threading.get_ident()
    renders = _LiftedByRenders()

    def call_while_paused(*arguments: Any) -> Any:
        if threading.get_ident() != main or not _in_one():
            return call(*arguments)
        return renders.pause(partial(call, *arguments))

    def temp_override(self: Any, *arguments: Any, **members: Any) -> Any:
        _in_one()
        _made.append(override(self, *arguments, **members))
        return _made[-1]

    def restore() -> None:
        # If other code has since replaced our function with its own, leave that replacement,
        # because it calls ours.
        if operators._op_call is call_while_paused:
            operators._op_call = call
        if context.temp_override is temp_override:
            context.temp_override = override
        renders.close()
        _made.clear()

    temp_override.__doc__ = override.__doc__
    operators._op_call, context.temp_override = call_while_paused, temp_override
    return restore
