"""Reads the pages of hosts' lists, without assuming that anything in the lists is well-formed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from callboard.content import Json
from callboard.errors import HostError

#: Maximum number of pages in a list. No host has that many.
MOST_PAGES = 100


async def pages(ask: Callable[[Json], Awaitable[Json]]) -> AsyncGenerator[Json, None]:
    """Yield every page. ``ask`` takes the request's params and returns one page. Raises the errors
    of ``ask``, and HostError for an endless list."""
    params: Json = {}
    for _ in range(MOST_PAGES):
        page = await ask(params)
        yield page
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return
        params = {"cursor": cursor}
    raise HostError(f"the host's list has more than {MOST_PAGES} pages")


def objects_in(page: Json, key: str) -> list[Json]:
    """Return the objects in a page's list under ``key``."""
    listed = page.get(key)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def object_in(value: Json, key: str) -> Json:
    """Return the object that ``value`` has under ``key``, or an empty object if there is none."""
    held: Any = value.get(key)
    return held if isinstance(held, dict) else {}
