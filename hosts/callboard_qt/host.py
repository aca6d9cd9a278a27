"""The host inside a Qt application, without its ports and callbacks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from callboard import host
from callboard.host import LOOK, NETWORK, Network
from callboard_qt.application.artist_acts import acts
from callboard_qt.application.messages import Messages

Post = Callable[[Callable[[], None]], None]
#: Returns the title of the open modal dialog, on any thread.
Dialog = Callable[[], str | None]


class QtHost(host.Host):
    """A host in a Qt application. ``post`` runs functions on the main thread. ``dialog`` returns
    the open modal dialog. Pass ``no_dialog`` if there is no GUI. ``skills`` is the folder of the
    host's own skills, if it has any. Make and close it on the main thread."""

    def __init__(
        self, identity: host.HostIdentity, post: Post, dialog: Dialog, skills: Path | None = None
    ) -> None:
        super().__init__()
        self.__identity = identity
        self.__post = post
        self.__dialog = dialog
        self.__skills = skills
        self.__messages: Messages | None = None

    @abstractmethod
    def _listen(self) -> Messages:
        """Register all callbacks. The ports exist by then."""

    def _open(self, ports: dict[str, object]) -> None:
        """Offer these ports and start listening. Without a GUI, leave out the ports that draw in
        views. This is the last step of making a host."""
        if self.__identity.headless:
            for capability in (host.VIEWPORT, LOOK):
                ports.pop(capability, None)
        else:
            self.acts = {**acts(), **self.acts}
        self.set_ports({**ports, NETWORK: Network()})
        self.__messages = self._listen()

    @property
    def identity(self) -> host.HostIdentity:
        return self.__identity

    @property
    def skill_paths(self) -> Sequence[str]:
        return () if self.__skills is None else (str(self.__skills),)

    def post(self, fn: Callable[[], None]) -> None:
        self.__post(fn)

    def may_run(self, work: host.Work) -> str | None:
        """Return why ``work`` may not run now, or None. During a load, a save or a render, not even
        reading is allowed, because the scene is between two states. While a mouse button is held,
        only reading is allowed, because a change would become part of the artist's drag, and take
        away the drag's own undo step. Qt's modal dialogs hold back posted functions anyway."""
        messages = self.__messages
        return (
            self._native_dialog()
            or (messages.holds() if messages is not None else None)
            or (None if work == "read" or self.__identity.headless else held_button())
        )

    def _native_dialog(self) -> str | None:
        """Return a description of the window that holds up the application without Qt reporting a
        modal dialog, or None. Runs on the main thread."""
        return None

    def blocked_by(self) -> str | None:
        messages = self.__messages
        return self.__dialog() or (messages.busy_with() if messages is not None else None)

    def rendering(self) -> AbstractContextManager[None]:
        """Return a context that is entered while one of our renders holds the main thread."""
        assert self.__messages is not None
        return self.__messages.during("rendering")

    def tell(self, event: host.HostEvent) -> Callable[[], None]:
        """Return a callback that announces the event."""
        return lambda: self.announce(event)

    def close(self) -> None:
        """Stop listening to the application. Idempotent."""
        if self.__messages is not None:
            self.__messages.close()
        self.announce("closing")


def held_button() -> str | None:
    """Return a description of the mouse button that the artist holds down, or None."""
    from qtpy.QtCore import Qt  # An application without a GUI may have no Qt.
    from qtpy.QtWidgets import QApplication

    held = QApplication.mouseButtons() != Qt.MouseButton.NoButton
    return "a mouse button that is held down" if held else None


def no_dialog() -> str | None:
    """Return None, for an application without a GUI."""
    return None
