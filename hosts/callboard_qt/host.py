"""A host that is a Qt application, but for its ports and what it tells of itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from callboard import host
from callboard.host import LOOK, NETWORK, Network
from callboard_qt.application.messages import Messages

Post = Callable[[Callable[[], None]], None]
#: Tells, on any thread, which modal dialog is open.
Dialog = Callable[[], str | None]


class QtHost(host.Host):
    """Made and closed on the application's main thread. ``post`` is whatever runs functions there;
    without windows there is no ``dialog``. ``skills`` is the folder that comes with the host."""

    def __init__(
        self, identity: host.HostIdentity, post: Post, dialog: Dialog, skills: Path
    ) -> None:
        super().__init__()
        self._identity = identity
        self._post = post
        self._dialog = dialog
        self._skills = skills
        self._messages: Messages | None = None

    @abstractmethod
    def _listen(self) -> Messages:
        """Registers all callbacks; the ports are there by then."""

    def _open(self, ports: dict[str, object]) -> None:
        """The last step of making a host: it offers these ports, and listens. What draws in views
        is left out where there are no windows."""
        if self._identity.headless:
            for capability in (host.VIEWPORT, LOOK):
                ports.pop(capability, None)
        self.set_ports({**ports, NETWORK: Network()})
        self._messages = self._listen()

    @property
    def identity(self) -> host.HostIdentity:
        return self._identity

    @property
    def skill_paths(self) -> Sequence[str]:
        return (str(self._skills),)

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)

    def may_run(self, work: host.Work) -> str | None:
        """Nothing runs inside a load, a save or a render, not even what reads: the scene is between
        two states. Modal dialogs of Qt's hold back everything that is posted anyway."""
        messages = self._messages
        return self._native_dialog() or (messages.holds() if messages is not None else None)

    def _native_dialog(self) -> str | None:
        """A dialog that the application shows without Qt, in words. Main thread."""
        return None

    def blocked_by(self) -> str | None:
        messages = self._messages
        return self._dialog() or (messages.busy_with() if messages is not None else None)

    def rendering(self) -> AbstractContextManager[None]:
        """Entered while a render of ours holds the main thread."""
        assert self._messages is not None
        return self._messages.during("rendering")

    def tell(self, event: host.HostEvent) -> Callable[[], None]:
        """A callback that announces the event."""
        return lambda: self.announce(event)

    def close(self) -> None:
        """Stops listening to the application. Idempotent."""
        if self._messages is not None:
            self._messages.close()
        self.announce("closing")


def no_dialog() -> str | None:
    """For an application without windows."""
    return None
