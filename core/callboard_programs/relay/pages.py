"""What hosts list, page by page; nothing of it is believed to be what it should be."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from callboard.content import Json
from callboard.errors import HostError

#: More than any host has.
MOST_PAGES = 100


async def pages(ask: Callable[[Json], Awaitable[Json]]) -> AsyncGenerator[Json, None]:
    """Every page that ``ask`` answers with, which takes the params. Raises what ``ask`` raises, and
    HostError for a list without an end."""
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
    """The objects of the list that a page has under ``key``."""
    listed = page.get(key)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def object_in(value: Json, key: str) -> Json:
    """The object that another one has under ``key``; an empty one where there is none."""
    held: Any = value.get(key)
    return held if isinstance(held, dict) else {}
