"""Ending code that runs on the main thread and doesn't end by itself.

Python raises an exception in another thread where that thread's next instruction would be. It may
land anywhere, so it is asked for only between the first and the last instruction of a tool, and
taken back when the tool ends before it landed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: Locks for the next runs: one that an exception landed on may never be released, so that isn't
#: used again. The exception may be that of a run around this one.
_locks: list[threading.RLock] = []


class Interrupted(BaseException):
    """The call has no more time, or nobody wants its answer. No Exception, so that a tool that
    catches those goes on to its end only by catching everything."""


class Interruptible:
    """Runs code that another thread can end. ``run`` is called by one thread at a time."""

    def __init__(self) -> None:
        #: Whether it was ever asked to end.
        self.asked = False
        self._thread: int | None = None
        self._lock: threading.RLock
        #: Whether an exception landed while the lock was taken or released.
        self._spoilt = False

    def run(self, function: Callable[[], T]) -> T:
        """Calls ``function``. Raises what it raises, or Interrupted; after that none lands."""
        self._lock = _locks.pop() if _locks else threading.RLock()
        try:
            try:
                self._thread = threading.get_ident()
                return function()
            finally:
                self._end()
                if not (self.asked or self._spoilt):
                    _locks.append(self._lock)
        except Interrupted:
            self._end()  # it may have landed on the way into the first
            raise

    def ask(self) -> bool:
        """Raises Interrupted in what runs, soon: an instruction that takes long, of a compiled
        library for instance, ends first. False when nothing runs. Any other thread."""
        if self._thread is None:
            return False
        lock = self._lock
        if not lock.acquire(blocking=False):
            return False  # it is ending
        try:
            thread = self._thread
            if lock is not self._lock or thread is None or thread == threading.get_ident():
                return False
            self.asked = True
            _raise_in(thread, Interrupted)
            return True
        finally:
            lock.release()

    def _end(self) -> None:
        while True:
            try:
                with self._lock:
                    thread, self._thread = self._thread, None
                    if self.asked and thread is not None:
                        _raise_in(thread, None)
                return
            except Interrupted:
                # The one that was asked for landed here; the lock may be taken twice now.
                self._spoilt = True


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Asks for the exception; None takes back what hasn't landed yet."""
    import ctypes  # half a megabyte, for what most servers never do

    what = ctypes.py_object(error) if error is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
