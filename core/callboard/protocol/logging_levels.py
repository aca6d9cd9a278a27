"""The log levels that peers set."""

from __future__ import annotations

from callboard.errors import InvalidParams
from callboard.protocol.peer import LOG_LEVELS as LEVELS
from callboard.protocol.peer import Peer

#: The level of a session that hasn't set one. A client without a session gets only messages that it
#: requested (2026-07-28, Logging).
DEFAULT_LEVEL = "info"


def set_level(peer: Peer, level: object) -> None:
    """Handle ``logging/setLevel`` (2025-11-25, Logging). Raises InvalidParams."""
    if not isinstance(level, str) or level not in LEVELS:
        raise InvalidParams(f"level must be one of {', '.join(LEVELS)}")
    peer.log_level = level


def wants(peer: Peer, level: str) -> bool:
    """Return whether the peer asked for messages of this level."""
    if level not in LEVELS:
        return False
    threshold = peer.log_level or (DEFAULT_LEVEL if peer.features.sessions else None)
    return threshold is not None and LEVELS.index(level) >= LEVELS.index(threshold)
