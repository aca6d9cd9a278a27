"""The report of a running server."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from callboard.clients.holder import LOCAL, TokenHolder
from callboard.errors import HostError
from callboard.records.store import Store


async def report_on(records: Store, since: str | None, holder: TokenHolder) -> dict[str, Any]:
    """Return the report of ``holder``'s calls, or of all calls for the command line's token. The
    default is the last seven days. Raises ValueError, and HostError when the records can't be
    read."""
    import sqlite3  # reports are rare: a start needs none of these

    from callboard.demand.period import parse_since
    from callboard.demand.report import build

    whose = None if holder == LOCAL else holder.id
    work = partial(build, records.reader(), since=parse_since(since or "7d"), holder=whose)
    try:
        return await asyncio.get_running_loop().run_in_executor(None, work)
    except sqlite3.Error as error:
        raise HostError(f"the records can't be read: {error}; try again in a minute") from None
