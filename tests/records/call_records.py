"""Makes records for tests, each with the fields that a test needs."""

from __future__ import annotations

import time
import uuid
from typing import Any

from callboard.records.model import CallRecord


def a_call(**changes: Any) -> CallRecord:
    fields: dict[str, Any] = {
        "call_id": str(uuid.uuid4()),
        "started": time.time(),
        "duration_ms": 1.5,
        "tool": "scene__get_object",
        "outcome": "ok",
        "arguments": {"name": "sphere1"},
        "client_name": "a client",
        "session": "5e551011",
    }
    return CallRecord(**{**fields, **changes})
