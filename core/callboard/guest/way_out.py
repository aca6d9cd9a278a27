"""Lets the artist hold Escape for a second to end a call that is blocking the main thread.

The key is checked on a separate thread, because a busy X server answers late, and the server's loop
has to answer other clients in the meantime. The same thread loads the code for requests that end a
call, because that takes seconds on a busy machine.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from time import perf_counter

from callboard.guest.loop import GuestLoop
from callboard.guest.main_thread import MainThread
from callboard.guest.thread_pause import PausableEvent, PythonPermit

log = logging.getLogger(__name__)

#: Seconds that Escape has to be held, and seconds between two checks.
HELD = 1.0
_INTERVAL = 0.1
#: Seconds after which the log says how the artist can end the call.
_LONG = 2.0


class WayOut:
    """Checks the Escape key, only while the main thread is blocked."""

    def __init__(
        self,
        guest: GuestLoop,
        main: MainThread,
        end: Callable[[], object],
        modules: Sequence[str],
    ) -> None:
        """``end`` is called on the server's loop. ``modules`` are those to load."""
        self._guest, self._main, self._end, self._modules = guest, main, end, modules
        self._looking = False

    def begin(self) -> None:
        """Check the key until the main thread is back. Call it on the server's loop."""
        if not self._looking:
            self._looking = True
            permit = PythonPermit()
            threading.Thread(
                target=permit.run,
                args=(self._check_until_back, permit),
                name="callboard-escape",
                daemon=True,
            ).start()

    def _check_until_back(self, permit: PythonPermit) -> None:
        try:
            self._check_key(permit)
        except Exception:
            log.exception("the Escape key could not be checked")
        finally:
            self._looking = False

    def _check_key(self, permit: PythonPermit) -> None:
        tick, logged = PausableEvent(), False
        modules = iter(self._modules)
        since: float | None = None
        is_held: Callable[[], bool] | None = None
        began = False
        while self._guest.stands_in:
            permit.wait(tick, _INTERVAL)
            turn, away = self._main.running, self._guest.stalled_for()
            if turn is None:
                # The application is busy with its own work, and may still begin a call. Until then
                # nothing is loaded, because that work may be to remove callboard.
                continue
            if not began:
                from callboard.guest.escape_key import escape_key  # Its imports may also be slow.

                is_held, began = escape_key(), True
            if (name := next(modules, None)) is not None:
                import_module(name)
            if away > _LONG and not logged:
                logged = True
                client = turn.owner.holder.name
                ways = "hold Escape for a second in its window, or " if is_held else ""
                log.warning(
                    "%s of %s has held the application for %.0f s. To end it, %stype"
                    " `callboard stop`",
                    *(turn.name, client, away, ways),
                )
            now = perf_counter()
            if is_held is None or not is_held():
                since = None
            elif since is None:
                since = now
            elif now - since >= HELD:
                since = None
                log.warning("Escape was held: %s is ended", turn.name)
                with suppress(RuntimeError):  # The server was closed.
                    self._guest.loop.call_soon_threadsafe(self._end)
