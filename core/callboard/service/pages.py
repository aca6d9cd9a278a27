"""Divides lists into pages, with cursors that stay valid when the list changes in between."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from callboard.errors import InvalidParams

T = TypeVar("T")

#: Maximum number of entries on one page. It is large, because many clients never ask for a second
#: page.
PAGE_SIZE = 500
_PREFIX = "after:"


def page(
    entries: Sequence[T], key: Callable[[T], str], cursor: Any
) -> tuple[Sequence[T], str | None]:
    """Return the entries after the cursor, of a list sorted by ``key``, and the next cursor. Raises
    InvalidParams for a cursor that this server didn't make."""
    start = 0
    if cursor is not None:
        after = _read(cursor)
        start = next((i for i, entry in enumerate(entries) if key(entry) > after), len(entries))
    end = start + PAGE_SIZE
    shown = entries[start:end]
    return shown, _write(key(shown[-1])) if end < len(entries) else None


def _write(name: str) -> str:
    return base64.urlsafe_b64encode((_PREFIX + name).encode()).decode("ascii")


def _read(cursor: Any) -> str:
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
        if not text.startswith(_PREFIX):
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidParams("cursor must be one that this server returned") from None
    return text[len(_PREFIX) :]
