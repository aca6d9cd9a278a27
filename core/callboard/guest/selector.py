"""The selector of the server's asyncio loop while it is a guest in the application's own event
loop. The loop runs in slices on the main thread. Where any other selector would block, this one
ends the slice."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from callboard.guest.thread_pause import PythonPermit

#: Seconds between two checks of the sockets while callbacks are waiting to run.
POLL_INTERVAL = 0.0005


class GuestSelector(selectors.BaseSelector):
    """A selector that ends the loop's slice when there is nothing to do or time is up."""

    def __init__(self) -> None:
        self.inner = selectors.DefaultSelector()
        self.stop: Callable[[], None] = lambda: None
        #: True to behave like any other selector, during start-up and shut-down.
        self.blocking = True
        #: The time past which the slice ends at its next iteration.
        self.end = 0.0
        #: The time until which an idle slice waits for the next event instead of ending.
        self.wait_until = 0.0
        self._polled = 0.0
        #: The time of the loop's next timer, known once a slice has ended idle, or None if there is
        #: no timer.
        self.next_timer: float | None = None
        #: True when the slice ended with work left over.
        self.more = False
        #: True when something was received during the slice.
        self.heard = False
        #: True while a thread is in ``watch``, or about to be.
        self.watched = False
        #: The permit of the thread that watches.
        self.permit = PythonPermit()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self.inner.register(self._wake_reader, selectors.EVENT_READ)

    def wake(self) -> None:
        """Make a ``watch`` in progress return. Call it from any thread."""
        try:
            self._wake_writer.send(b"\0")
        except BlockingIOError:
            pass  # A wake-up is already on its way.
        except OSError:
            pass  # The selector was closed in the meantime, so no thread is waiting.

    def watch(self) -> None:
        """Block until a socket or the next timer is due, or ``wake`` is called. The watcher thread
        waits here between slices."""
        # Set before the timer is read: code that moves the timer checks this afterwards.
        self.watched = True
        timeout = None if self.next_timer is None else max(0.0, self.next_timer - perf_counter())
        self.permit.leave(self.wake)
        try:
            events = self.inner.select(timeout)
        except (OSError, ValueError):
            return  # A socket was closed in the meantime. The slice handles that.
        finally:
            self.permit.back()
            self.watched = False
        if any(key.fileobj is self._wake_reader for key, _ in events):
            self._drain_wake()

    def _drain_wake(self) -> None:
        try:
            while self._wake_reader.recv(4096):
                pass
        except OSError:
            pass

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.blocking:
            return self._events(timeout)
        now = perf_counter()
        if timeout is not None and timeout <= 0:
            if now >= self.end:
                self.more = True
                self.stop()
            # A request takes about six iterations. Asking the system in each one would cost a sixth
            # of the request's time.
            if now < self._polled + POLL_INTERVAL:
                return []
            self._polled = now
            return self._events(0)
        due = None if timeout is None else now + timeout
        if now < self.end:
            wait = self.wait_until - now
            if due is not None:
                wait = min(wait, timeout or 0.0)
            events = self._events(max(0.0, wait))
            if events or (due is not None and perf_counter() >= due):
                self.heard = True
                return events
        self.next_timer = due
        self.stop()
        return []

    def _events(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        events = self.inner.select(timeout)
        for event in events:
            if event[0].fileobj is self._wake_reader:
                self._drain_wake()
                events.remove(event)
                break
        return events

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self.inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self.inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self.inner.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self.inner.get_map()

    def close(self) -> None:
        self.inner.close()
        self._wake_reader.close()
        self._wake_writer.close()
