"""Checks the states of folders on a thread that may wait for a network drive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic

from callboard_ui.qt_threads import Background

#: Seconds for which a checked state stays valid.
FRESH = 5.0


class FolderStates:
    """The state of each path: ``there``, ``missing``, ``gone`` (it was there before), ``no folder``
    or ``unreadable``. Use it on Qt's thread."""

    def __init__(self, background: Background, changed: Callable[[], None]) -> None:
        self._background = background
        self._changed = changed
        self._states: dict[str, str] = {}
        self._asked: dict[str, float] = {}

    def of(self, path: str) -> str:
        """Return the last known state, or an empty string before the first check."""
        return self._states.get(path, "")

    def ask(self, paths: Iterable[str]) -> None:
        """Check the paths that haven't been checked recently."""
        now = monotonic()
        due = [path for path in paths if now - self._asked.get(path, -FRESH) >= FRESH]
        self._asked.update(dict.fromkeys(due, now))
        if not due:
            return

        def done(states: dict[str, str] | None, error: Exception | None) -> None:
            for path, state in (states or {}).items():
                if states and state == "missing" and self._states.get(path) in ("there", "gone"):
                    states[path] = "gone"
            if states and any(self._states.get(path) != state for path, state in states.items()):
                self._states.update(states)
                self._changed()

        self._background.run(lambda: {path: _state(path) for path in due}, done)


def _state(path: str) -> str:
    try:
        if not os.path.lexists(path):
            return "missing"
        if not Path(path).is_dir():
            return "no folder"
        with os.scandir(path):
            return "there"
    except OSError:
        return "unreadable"
