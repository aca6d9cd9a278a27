"""The last log records of this process, with the trace they belong to."""

from __future__ import annotations

import contextvars
import logging
from collections import deque

from callboard.calls.invisible import shown
from callboard.content import Json

#: Records kept.
KEPT = 500
#: Characters kept of one message.
MESSAGE_LIMIT = 2_000

#: The trace context of the call in whose context a record is made.
trace: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar(
    "callboard_trace", default=None
)


class RecentLog(logging.Handler):
    """Keeps what callboard logged. Any thread."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._records: deque[Json] = deque(maxlen=KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        entry: Json = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": shown(record.getMessage()[:MESSAGE_LIMIT]),
        }
        current = trace.get()
        if current:
            entry["trace"] = current
        self._records.append(entry)

    def attach(self) -> None:
        logging.getLogger("callboard").addHandler(self)

    def detach(self) -> None:
        logging.getLogger("callboard").removeHandler(self)

    def entries(self) -> list[Json]:
        """Oldest first."""
        return list(self._records)
