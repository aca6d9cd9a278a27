"""Switches that give a double the faults of its application, according to live reports."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep


class Soft:
    """The switches of a double's session. All are off at first."""

    def harden(self) -> None:
        """Switch everything off."""
        #: True if views draw black, as in a window that an agent started.
        self.blank_views = False
        #: True if views draw black while their window is covered or minimized.
        self.blank_when_hidden = False
        #: True if the application reports an undo only once its events have been handled.
        self.late_notices = False
        #: The plug-ins or node types that this installation doesn't have.
        self.not_installed: set[str] = set()
        #: Seconds for which the first change in a step holds the main thread.
        self.cook_seconds = 0.0
        #: True while a window that isn't Qt's is waiting for the artist.
        self.native_dialog = False
        #: The reports that haven't been sent yet.
        self.owed: list[tuple[float, Callable[[], object]]] = []

    def is_blank(self) -> bool:
        return self.blank_views or (self.blank_when_hidden and _is_hidden())

    def cook(self) -> None:
        sleep(self.cook_seconds)

    def report(self, tell: Callable[[], object]) -> None:
        """Report something that happened: at once, or late."""
        if self.late_notices:
            self.owed.append((monotonic(), tell))
        else:
            tell()

    def handle_events(self, seconds: float = 0.0) -> None:
        """Send the reports that have been delayed for at least that many seconds."""
        due = [each for each in self.owed if monotonic() - each[0] >= seconds]
        self.owed = [each for each in self.owed if each not in due]
        for _, tell in due:
            tell()


def _is_hidden() -> bool:
    from qtpy.QtWidgets import QApplication

    windows = QApplication.topLevelWidgets()
    return any(
        each.isVisible() and (each.isMinimized() or each.objectName() == "callboardCover")
        for each in windows
    )
