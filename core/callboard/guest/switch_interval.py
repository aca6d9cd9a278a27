"""Shorter turns at the interpreter, for as long as somebody stands in for a busy main thread.

An answer takes several turns, and beside a thread that computes each would come after Python's
usual 5 ms. The setting is the process's, and so is the count of who needs it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: What a thread that computes may keep the interpreter meanwhile, seconds.
TURN = 0.0005

_lock = threading.Lock()
_users = 0
_usual = 0.0


@contextmanager
def short_turns() -> Iterator[None]:
    """Turns are short within the block, and as before after the last one. Any thread."""
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
