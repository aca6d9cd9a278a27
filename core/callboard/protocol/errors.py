"""The errors that exist only in revision 2026-07-28."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.errors import PeerError

HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class HeaderMismatch(PeerError):
    """Raised when a header is missing, malformed, or differs from the body (2026-07-28, Streamable
    HTTP)."""

    code = HEADER_MISMATCH


class MissingClientCapability(PeerError):
    """Raised when a call needs to ask its client for something that the client didn't declare
    (2026-07-28). ``needed`` has the shape of ClientCapabilities."""

    code = MISSING_CLIENT_CAPABILITY

    def __init__(self, needed: dict[str, Any]) -> None:
        names = ", ".join(needed)
        super().__init__(
            f"this call asks its client for: {names}; declare it in clientCapabilities, or use a "
            "client that can be asked",
            data={"requiredCapabilities": needed},
        )


class UnsupportedVersion(PeerError):
    """Raised when the client speaks a revision that callboard doesn't support."""

    code = UNSUPPORTED_VERSION

    def __init__(self, requested: str, supported: Sequence[str]) -> None:
        super().__init__(
            f"protocol version {requested[:40]!r} is not supported; use {supported[0]}",
            data={"supported": list(supported), "requested": requested},
        )
