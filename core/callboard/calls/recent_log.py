"""The last log records of this process, with the trace they belong to.

Calls that failed have a logger of their own, which nobody else hears: what is logged otherwise
reaches the artist's script editor, where an agent's mistakes would be noise.
"""

from __future__ import annotations

import contextvars
import logging
from collections import deque

from callboard.calls.invisible import shown
from callboard.content import Json

#: Records kept.
KEPT = 500
#: Characters kept of one message, of its beginning and of its end, where a traceback says what.
MESSAGE_HEAD, MESSAGE_TAIL = 1_000, 3_000

#: Characters of a failed call's message, beside its traceback.
FAILURE_HEAD = 800

failed_calls = logging.getLogger("callboard.failed_calls")
failed_calls.propagate = False
failed_calls.setLevel(logging.INFO)

#: The trace context of the call in whose context a record is made.
trace: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar(
    "callboard_trace", default=None
)


def logged() -> tuple[logging.Logger, ...]:
    """All that callboard logs to."""
    return logging.getLogger("callboard"), failed_calls


def log_failure(tool: str, call_id: str, result: Json) -> None:
    """Of a call that ended with an error: what it was answered, with the traceback. Any thread."""
    told = [block["text"] for block in result["content"] if block["type"] == "text"]
    head, rest = "".join(told[:1])[:FAILURE_HEAD], told[1:]
    failed_calls.error("%s failed (call %s): %s", tool, call_id, "\n".join([head, *rest]))


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
            "message": shown(_short(record.getMessage())),
        }
        current = trace.get()
        if current:
            entry["trace"] = current
        self._records.append(entry)

    def attach(self) -> None:
        for logger in logged():
            logger.addHandler(self)

    def detach(self) -> None:
        for logger in logged():
            logger.removeHandler(self)

    def entries(self) -> list[Json]:
        """Oldest first."""
        return list(self._records)


def _short(message: str) -> str:
    if len(message) <= MESSAGE_HEAD + MESSAGE_TAIL:
        return message
    return f"{message[:MESSAGE_HEAD]} … {message[-MESSAGE_TAIL:]}"
