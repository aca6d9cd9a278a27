"""Who called lately without a session: all that can be known of a client that never connects."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from callboard.changes import Changes
from callboard.protocol.peer import ClientInfo, Peer

#: Clients kept at most, and seconds after its last request for which one is.
LIMIT = 16
KEPT = 300.0


class RecentClients:
    """On the server's loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._seen: dict[tuple[ClientInfo, str], float] = {}
        self._changes: Changes[[]] = Changes()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls ``listener`` when one comes that wasn't there before; returns the way to stop."""
        return self._changes.watch(listener)

    def saw(self, peer: Peer) -> None:
        """One request of this peer's came. The least recent one is forgotten for it."""
        key = (peer.client, peer.features.name)
        known = self._seen.pop(key, None) is not None
        self._seen[key] = self.clock()
        if not known:
            if len(self._seen) > LIMIT:
                del self._seen[next(iter(self._seen))]
            self._changes.tell()

    def all(self) -> list[tuple[ClientInfo, str]]:
        """Clients and their revisions, the least recent one first."""
        oldest = self.clock() - KEPT
        self._seen = {key: at for key, at in self._seen.items() if at > oldest}
        return list(self._seen)

    @property
    def next_goes_in(self) -> float | None:
        """Seconds until the least recent one is forgotten; None where there is none."""
        first = next(iter(self._seen.values()), None)
        return None if first is None else max(first + KEPT - self.clock(), 0.0)
