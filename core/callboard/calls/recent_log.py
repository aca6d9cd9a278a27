"""The latest log records of this process, each with the trace that it belongs to.

Failed calls have a logger of their own, which doesn't propagate. All other records reach the
artist's script editor, where an agent's mistakes would be noise.
"""

from __future__ import annotations

import contextvars
import logging
from collections import deque
from collections.abc import Sequence

from callboard.calls.invisible import shown
from callboard.clients.owner import Owner, may_see
from callboard.content import Json

#: Maximum number of records kept.
KEPT = 500
#: Maximum number of characters kept from a message's beginning, and from its end, where a traceback
#: has its message.
MESSAGE_HEAD, MESSAGE_TAIL = 1_000, 3_000

#: Maximum number of characters kept from a failed call's message, not counting its traceback.
FAILURE_HEAD = 800

failed_calls = logging.getLogger("callboard.failed_calls")
failed_calls.propagate = False
# If we have no handler, for instance after a stop, Python would print the record on stderr.
failed_calls.addHandler(logging.NullHandler())
failed_calls.setLevel(logging.INFO)
_LOGGED = (logging.getLogger("callboard"), failed_calls)

#: The trace context of the call in whose context a record is made.
trace: contextvars.ContextVar[dict[str, str] | None] = contextvars.ContextVar(
    "callboard_trace", default=None
)
#: The owner of the call in whose context a record is made.
caller: contextvars.ContextVar[Owner | None] = contextvars.ContextVar(
    "callboard_caller", default=None
)


def log_failure(tool: str, call_id: str, result: Json, owner: Owner) -> None:
    """Log the answer and traceback of a failed call by ``owner``. Call it from any thread."""
    reported = [block["text"] for block in result["content"] if block["type"] == "text"]
    head, rest = "".join(reported[:1])[:FAILURE_HEAD], reported[1:]
    what = "\n".join([head, *rest])
    failed_calls.error("%s failed (call %s): %s", tool, call_id, what, extra={"owners": (owner,)})


class Listening(logging.Handler):
    """The base of log handlers that, while attached, receive every record that callboard logs."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)

    def attach(self, level: str = "") -> None:
        """Begin to receive records. With a ``level``, records from that level up are received,
        whatever level the application has set."""
        if level:
            self.setLevel(level.upper())
        for logger in _LOGGED:
            if level and logger.getEffectiveLevel() > self.level:
                logger.setLevel(self.level)
            logger.addHandler(self)

    def detach(self) -> None:
        for logger in _LOGGED:
            logger.removeHandler(self)


class RecentLog(Listening):
    """Keeps what callboard logged. Use it from any thread."""

    def __init__(self) -> None:
        super().__init__()
        #: Each record, with the owners of all calls that it may quote.
        self._records: deque[tuple[Sequence[Owner], Json]] = deque(maxlen=KEPT)

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
        owner = caller.get()
        owners = getattr(record, "owners", () if owner is None else (owner,))
        self._records.append((owners, entry))

    def entries(self, reader: Owner) -> list[Json]:
        """Return the records, oldest first. A call's records may quote its arguments, so ``reader``
        sees only the records of its own calls and the records that belong to no call. The command
        line's token sees all records."""
        records = list(self._records)
        return [
            entry for owners, entry in records if all(may_see(owner, reader) for owner in owners)
        ]


def _short(message: str) -> str:
    if len(message) <= MESSAGE_HEAD + MESSAGE_TAIL:
        return message
    return f"{message[:MESSAGE_HEAD]} … {message[-MESSAGE_TAIL:]}"
