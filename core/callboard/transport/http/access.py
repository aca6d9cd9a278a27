"""Who may talk to the listener: this machine, a known Host, no foreign Origin, the right token."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

#: Bytes of a request's body.
BODY_LIMIT = 8 * 1024 * 1024
#: Bytes of a request's headers.
HEADER_LIMIT = 32 * 1024

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def new_token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Refusal:
    """Why a request is turned away: an HTTP status, and a sentence for the one who sent it."""

    status: int
    message: str


class Access:
    """The rules of one listener (2025-11-25, Transports, Security Warning: Origin must be
    checked, local servers should bind to localhost and authenticate)."""

    def __init__(
        self,
        port: int,
        token: str | None,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
    ) -> None:
        self._hosts = {f"{name}:{port}" for name in _LOOPBACK} | set(hosts)
        if port == 80:
            self._hosts.update(_LOOPBACK)
        self._origins = {origin.rstrip("/") for origin in origins}
        self._bearer = None if token is None else f"bearer {token}".encode()

    def check(self, headers: Mapping[str, str]) -> Refusal | None:
        """None where the request may pass."""
        refusal = self.check_origin(headers)
        if refusal is not None or self._bearer is None:
            return refusal
        given = headers.get("Authorization", "")
        scheme, _, credentials = given.partition(" ")
        presented = f"{scheme.lower()} {credentials.strip()}".encode("utf-8", "replace")
        if not hmac.compare_digest(presented, self._bearer):
            return Refusal(
                401,
                "a bearer token is needed; `callboard config CLIENT` writes one into a client's "
                "configuration",
            )
        return None

    def check_origin(self, headers: Mapping[str, str]) -> Refusal | None:
        """Host and Origin only: for a browser's preflight, which carries no token."""
        if headers.get("Host", "").lower() not in self._hosts:
            return Refusal(421, "this Host is not served here; connect to 127.0.0.1")
        origin = headers.get("Origin")
        if origin is not None and not self._allows(origin):
            return Refusal(403, "this Origin may not connect; allow it in callboard's settings")
        return None

    def _allows(self, origin: str) -> bool:
        if origin.rstrip("/") in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            # A page served by this very listener, and nothing else on this machine.
            return parts.scheme == "http" and parts.netloc.lower() in self._hosts
        except ValueError:
            return False
