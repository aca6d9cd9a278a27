"""A host that fits on one page. The program's scene is a board with notes, which agents can read.

    python examples/host/notes.py

A host must have ``identity`` and ``post``. All its other abilities are ports, one for each
capability. This one has only ``scene.read``, so tools that change a scene are listed as
unavailable, with the capability that they need.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any

from callboard.app import Callboard
from callboard.guest.inbox import MainThreadInbox
from callboard.host import SCENE_READ, Host, HostIdentity, ObjectNotFound, nearest_names


class Board:
    """The program's own data, and the port ``scene.read`` on it. Use it on the main thread."""

    def __init__(self) -> None:
        self._notes: dict[str, tuple[float, float]] = {"milk": (0.2, 1.5), "bread": (0.8, 1.4)}

    def info(self) -> dict[str, Any]:
        facts = {"file": None, "modified": False, "units_per_meter": 1.0, "up_axis": "Y"}
        times = {"frame_range": [1, 1], "fps": 24.0}
        return {**facts, **times, "object_count": len(self._notes), "selection": []}

    def names(self) -> list[str]:
        return [f"/{name}" for name in self._notes]

    def get(self, name: str) -> dict[str, Any]:
        bare = name.removeprefix("/")
        if bare not in self._notes:
            raise ObjectNotFound(name, nearest_names(bare, list(self._notes)))
        placed = {"translate": [*self._notes[bare], 0.0], "rotate": [0, 0, 0], "scale": [1, 1, 1]}
        shown = {"visible": True, "color": [1.0, 0.9, 0.3], "bounds": None}
        return {**self._summary(bare), "children": [], **placed, **shown}

    def summaries(self) -> Iterable[dict[str, Any]]:
        return [self._summary(name) for name in self._notes]

    def selection(self) -> list[str]:
        return []

    def _summary(self, name: str) -> dict[str, Any]:
        return {"name": name, "path": f"/{name}", "type": "note", "parent": None}


class NotesHost(Host):
    """The board's host. ``post`` is the program's own way to run a function on its main thread: a
    Qt event, a timer, or a queue that its loop checks."""

    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._post = post
        self.set_ports({SCENE_READ: Board()})

    @property
    def identity(self) -> HostIdentity:
        return HostIdentity("notes", "Notes", "1.0")

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)


def main() -> None:
    # This program does nothing else: its main thread runs posted functions until Ctrl+C.
    inbox = MainThreadInbox()
    server = Callboard(NotesHost(inbox.post)).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: inbox.stop())
    ready = {"event": "ready", "url": server.url, "token": server.token}
    print(json.dumps(ready), file=sys.__stdout__, flush=True)
    try:
        inbox.run()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
