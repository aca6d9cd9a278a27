"""The artist's preferences, kept where the application keeps its own."""

from __future__ import annotations

from abc import ABC, abstractmethod

_AUTOSTART, _PORT = "autostart", "port"


class Options(ABC):
    """Main thread."""

    @abstractmethod
    def read(self, name: str) -> int | None:
        """The artist's choice; None where there is none, or where it can't be read."""

    @abstractmethod
    def write(self, name: str, value: int) -> None: ...

    @property
    def autostart(self) -> bool:
        """Whether the server starts with the application."""
        return self.read(_AUTOSTART) != 0

    @autostart.setter
    def autostart(self, wanted: bool) -> None:
        self.write(_AUTOSTART, int(wanted))

    @property
    def port(self) -> int:
        """The port that the server opens, 0 for any."""
        return self.read(_PORT) or 0

    @port.setter
    def port(self, number: int) -> None:
        self.write(_PORT, number)
