"""The report on a running server's records."""

from __future__ import annotations

import asyncio
from typing import Any

from callboard.clients.holder import LOCAL, TokenHolder
from callboard.errors import HostError
from callboard.guest.switch_interval import short_turns
from callboard.records.store import Store


class LiveReport:
    """The report on missing capabilities, failures, slow calls and call counts. It is built from a
    running server's records, on another thread, so the server isn't blocked. Use it on the server's
    loop."""

    def __init__(self, records: Store) -> None:
        self._records = records
        # A report reads every call of its period. Reports are made one at a time, so that other
        # requests don't have to wait long for the interpreter.
        self._turn = asyncio.Lock()

    async def __call__(self, since: str | None, holder: TokenHolder) -> dict[str, Any]:
        """Return the report of ``holder``'s calls, or of all calls for the command line's token. By
        default, it covers the last seven days. Raises ValueError, and HostError when the records
        can't be read."""
        import sqlite3  # Reports are rare, so these aren't imported at start-up.

        from callboard.demand.period import parse_since
        from callboard.demand.report import build

        whose = None if holder == LOCAL else holder.id
        begin = parse_since(since or "7d")

        def work() -> dict[str, Any]:
            with short_turns():
                return build(self._records.reader(), since=begin, holder=whose)

        try:
            async with self._turn:
                return await asyncio.get_running_loop().run_in_executor(None, work)
        except sqlite3.Error as error:
            message = f"the records can't be read: {error}; try again in a minute"
            raise HostError(message) from None
