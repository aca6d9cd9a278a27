"""Lets the artist hold Escape for a second to end a call that is blocking the main thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter

from callboard.guest.escape_key import escape_key
from callboard.guest.loop import GuestLoop
from callboard.guest.main_thread import MainThread

log = logging.getLogger(__name__)

#: Seconds that Escape has to be held, and seconds between two checks.
HELD = 1.0
_INTERVAL = 0.1
#: Seconds after which the log says how the artist can end the call.
_LONG = 2.0


class WayOut:
    """Checks the Escape key, only while the main thread is blocked. Use it on the server's loop."""

    def __init__(self, guest: GuestLoop, main: MainThread, end: Callable[[], object]) -> None:
        self._guest, self._main, self._end = guest, main, end
        self._is_held: Callable[[], bool] | None = None
        self._looking = self._logged = False
        self._since: float | None = None

    def begin(self) -> None:
        """Check the key until the main thread is back."""
        if not self._looking:
            self._looking, self._logged, self._since = True, False, None
            self._check_key()

    def _check_key(self) -> None:
        self._looking = self._guest.stands_in
        if not self._looking:
            self._is_held = None
            return
        self._guest.loop.call_later(_INTERVAL, self._check_key)
        turn, away = self._main.running, self._guest.stalled_for()
        if turn is None:
            return  # The application is busy with its own work, and may still begin a call.
        self._is_held = self._is_held or escape_key()
        if away > _LONG and not self._logged:
            self._logged = True
            name, client = turn.name, turn.owner.holder.name
            ways = "hold Escape for a second in its window, or " if self._is_held else ""
            log.warning(
                "%s of %s has held the application for %.0f s. To end it, %stype `callboard stop`",
                *(name, client, away, ways),
            )
        now = perf_counter()
        if self._is_held is None or not self._is_held():
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= HELD:
            self._since = None
            log.warning("Escape was held: %s is ended", turn.name)
            self._end()
