"""Reads the periods that people write, such as ``7d``, for the commands and pages that read
records."""

from __future__ import annotations

import datetime as dt
import re
import time

_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
#: A time earlier than any record. Windows supports no local dates before 1970, and no system
#: supports any before year 1.
_EARLIEST = 2 * 86_400.0


def parse_since(text: str, now: float | None = None) -> float | None:
    """Return the time at which a period begins, in Unix seconds. The text is ``30m``, ``12h``,
    ``7d``, ``2w`` or a local date such as ``2026-11-01``. For ``all``, return None. Raises
    ValueError."""
    text = text.strip().lower()
    if text == "all":
        return None
    if match := re.fullmatch(r"(\d{1,6})\s*([mhdw])", text):
        asked = (time.time() if now is None else now) - int(match[1]) * _UNITS[match[2]]
        return max(_EARLIEST, asked)
    try:
        return dt.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"'{text[:40]}' is not a period: write 30m, 12h, 7d, 2w, a date like 2026-11-01, or all"
        ) from None
