"""Shortens the turns in which threads hold the interpreter, while a thread stands in for a busy
main thread.

An answer takes several turns. While another thread is computing, each turn would wait for Python's
usual 5 ms. The setting is shared by the process, and so is the count of its users.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds for which a computing thread may then keep the interpreter.
TURN = 0.0005

_lock = threading.Lock()
_users = 0
_usual = 0.0


@contextmanager
def short_turns() -> Iterator[None]:
    """Shorten turns within the block. The last block to end restores the usual length. Call it from
    any thread."""
    global _users, _usual
    with _lock:
        _users += 1
        if _users == 1:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual, TURN))
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.setswitchinterval(_usual)
