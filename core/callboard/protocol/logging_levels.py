"""Which log messages a peer asked for."""

from __future__ import annotations

from callboard.errors import InvalidParams
from callboard.protocol.peer import LOG_LEVELS as LEVELS
from callboard.protocol.peer import Peer, PeerRequest

#: What a session hears before it sets a level.
DEFAULT_LEVEL = "info"


def set_level(peer: Peer, level: object) -> None:
    """``logging/setLevel`` (2025-11-25, Logging). Raises InvalidParams."""
    if level not in LEVELS:
        raise InvalidParams(f"level must be one of {', '.join(LEVELS)}")
    peer.memory["log_level"] = level


def wants(request: PeerRequest, level: str) -> bool:
    """Whether the caller asked for messages of this level."""
    if level not in LEVELS:
        return False
    threshold = request.peer.memory.get("log_level", DEFAULT_LEVEL)
    return threshold is not None and LEVELS.index(level) >= LEVELS.index(threshold)
