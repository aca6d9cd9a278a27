"""Guards operators inside ``temp_override``, which up to Python 3.11 need the interpreter to
themselves.

An operator releases the interpreter lock while it runs, and takes the lock when it needs it. Inside
``temp_override`` Blender looks up parts of the context in a Python dictionary, and takes the lock
only if no thread at all holds it. From Python 3.12 on, that check covers only its own thread.
In earlier versions, another thread that runs Python at that moment crashes Blender (see
docs/decisions/0392).
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any

import bpy

from callboard.host import ThreadPause

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

    def call_while_paused(*arguments: Any) -> Any:
        if threading.get_ident() != main or not _in_one():
            return call(*arguments)
        with ThreadPause():
            return call(*arguments)

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
        _made.clear()

    temp_override.__doc__ = override.__doc__
    operators._op_call, context.temp_override = call_while_paused, temp_override
    return restore
