"""The artist's preferences, stored where the application stores its own."""

from __future__ import annotations

from abc import ABC, abstractmethod

_AUTOSTART, _PORT = "autostart", "port"


class Options(ABC):
    """The preferences. Use them on the main thread."""

    @abstractmethod
    def read(self, name: str) -> int | None:
        """Return the artist's choice, or None if there is no choice or it can't be read."""

    @abstractmethod
    def write(self, name: str, value: int) -> None: ...

    @property
    def autostart(self) -> bool:
        """True when the server starts with the application."""
        return self.read(_AUTOSTART) != 0

    @autostart.setter
    def autostart(self, wanted: bool) -> None:
        self.write(_AUTOSTART, int(wanted))

    @property
    def port(self) -> int:
        """The port number that the server opens. 0 means any free port."""
        return self.read(_PORT) or 0

    @port.setter
    def port(self, number: int) -> None:
        self.write(_PORT, number)
