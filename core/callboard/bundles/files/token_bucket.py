"""A limit on the rate of requests."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable

RATE = 100.0
BURST = 1000
#: Maximum number of buckets kept. The oldest is dropped first, because it is probably full and so
#: no different from a new bucket.
MAX_BUCKETS = 10_000


class TokenBuckets:
    """One bucket per key. A bucket allows ``burst`` tokens at once, and ``rate`` tokens per second
    on average. Use it from any thread."""

    def __init__(
        self,
        rate: float = RATE,
        burst: int = BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[Hashable, tuple[float, float]] = {}

    def take(self, key: Hashable) -> int | None:
        """Take one token and return None. If there is none, return the milliseconds until the next
        one, rounded up."""
        with self._lock:
            now = self._clock()
            tokens, since = self._buckets.pop(key, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - since) * self._rate)
            allowed = tokens >= 1
            self._buckets[key] = (tokens - 1 if allowed else tokens, now)
            if len(self._buckets) > MAX_BUCKETS:
                del self._buckets[next(iter(self._buckets))]
        return None if allowed else math.ceil((1 - tokens) / self._rate * 1000)
