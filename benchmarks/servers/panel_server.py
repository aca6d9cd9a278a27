"""callboard on Qt's main thread, as inside a host with a GUI, with or without the panel."""

from __future__ import annotations

import process_facts  # isort: skip - must be first: it measures the bare interpreter

import argparse
import signal
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

from qtpy.QtCore import Qt, QTimer
from qtpy.QtWidgets import QApplication

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.host import Host, HostIdentity
from callboard_qt.application.main_thread import QtMainThread
from callboard_ui import make_panel

#: Milliseconds between two ticks of the interface when it is idle.
TICK_MS = 10


class WindowedHost(Host):
    """A host with a GUI and no ports."""

    def __init__(self, main: QtMainThread) -> None:
        super().__init__()
        self._main_thread = main
        self._identity = HostIdentity("benchmark", "Benchmark", "1", headless=False)

    @property
    def identity(self) -> HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._main_thread.post(fn)


class Ticks:
    """Measures how late the timer of the interface's thread fires."""

    def __init__(self) -> None:
        self.late: deque[float] = deque(maxlen=1_000_000)
        self._due = perf_counter() + TICK_MS / 1000
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(TICK_MS)

    def _tick(self) -> None:
        now = perf_counter()
        self.late.append(max(0.0, now - self._due))
        self._due = now + TICK_MS / 1000

    def take(self) -> list[float]:
        """Return the delays since the last call, in milliseconds."""
        latenesses = [late * 1000 for late in self.late]
        self.late.clear()
        return latenesses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--panel", action="store_true")
    arguments = parser.parse_args()
    application = QApplication(["benchmark"])
    thread = QtMainThread()
    app = Callboard(WindowedHost(thread), McpHttpConfig(announce=False, skills=False))
    ticks = Ticks()
    number = {"type": "object", "properties": {"value": {"type": "integer"}}}
    reads = {"readOnlyHint": True}
    app.tools.register(
        "echo", lambda value: {"value": value}, "Returns its value.", number, annotations=reads
    )

    def inside() -> dict[str, Any]:
        return {"late_ms": ticks.take(), "bytes": process_facts.resident()}

    app.tools.register(
        "inside",
        inside,
        "Reports how late the interface's timer fired, and the memory in use.",
        annotations=reads,
    )
    app.start()
    panel: Any = make_panel(app) if arguments.panel else None
    if panel is not None:
        panel.resize(900, 600)
        panel.show()
    process_facts.announce(app.url, app.token)
    signal.signal(signal.SIGTERM, lambda *args: thread.post(application.quit))
    application.exec_()
    if panel is not None:
        panel.shut()
    app.stop()


main()
