"""Operators inside ``temp_override``, which up to Python 3.11 need the interpreter to themselves.

An operator gives the interpreter up while it runs, and asks for it where it needs it. Inside
``temp_override`` Blender looks into a Python dictionary for what it needs of the context, and asks
only where no thread at all has the interpreter. From Python 3.12 on that question is about its own
thread. Until then another thread that runs Python meanwhile ends Blender: docs/decisions/0392.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any

import bpy

from callboard.host import ThreadPause

#: Whether this Blender has the fault.
NEEDED = sys.version_info < (3, 12)

#: Overrides that may be entered: those that somebody else still has, as a with block does. They
#: aren't wrapped, because an exception that lands in a wrapper would leave Blender's own entered.
_made: list[Any] = []
#: What refers to one while it is asked about, if nobody else has it.
_OURS = 3
#: How many hosts there are, and what gives Blender its own functions back.
_hosts = 0
_restore: list[Callable[[], None]] = []


def _in_one() -> bool:
    """Whether an override may be entered. Forgets those that nobody has any more."""
    if _made:
        _made[:] = [made for made in _made if sys.getrefcount(made) > _OURS]
    return bool(_made)


def guard() -> Callable[[], None]:
    """Callboard's threads stand still during operators inside an override, whoever calls them,
    until the last function that this returned is called. Main thread, as are those; idempotent."""
    global _hosts
    _hosts += 1
    if NEEDED and _hosts == 1:
        # Blender as a module hangs at its end where its types hold something of Python's.
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

    def call_in_standstill(*arguments: Any) -> Any:
        if threading.get_ident() != main or not _in_one():
            return call(*arguments)
        with ThreadPause():
            return call(*arguments)

    def temp_override(self: Any, *arguments: Any, **members: Any) -> Any:
        _in_one()
        _made.append(override(self, *arguments, **members))
        return _made[-1]

    def restore() -> None:
        # Unless somebody else has put theirs over ours since, which calls ours.
        if operators._op_call is call_in_standstill:
            operators._op_call = call
        if context.temp_override is temp_override:
            context.temp_override = override
        _made.clear()

    temp_override.__doc__ = override.__doc__
    operators._op_call, context.temp_override = call_in_standstill, temp_override
    return restore
