"""Checks whether a listener may serve a request. The Host must be known, the Origin must not be
foreign, and the token must be right."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from callboard.clients.holder import ANYONE, LOCAL, NOBODY, TokenHolder
from callboard.transport import instance_proof

#: Maximum number of bytes in a request's body.
BODY_LIMIT = 8 * 1024 * 1024
#: Maximum number of bytes in a request's headers.
HEADER_LIMIT = 32 * 1024

#: The headers of the answer to a browser's preflight.
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, "
        "Mcp-Name, Last-Event-ID"
    ),
    "Access-Control-Max-Age": "600",
}
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Refusal(NamedTuple):
    """The reason why a request is refused: an HTTP status, and a sentence for the client."""

    status: int
    message: str


class Access:
    """The rules of one listener (2025-11-25, Transports, Security Warning: Origin must be
    checked, local servers should bind to localhost and authenticate)."""

    def __init__(
        self,
        port: int,
        token: str | None,
        find: Callable[[str], TokenHolder | Refusal | None] = lambda token: None,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
    ) -> None:
        """``token`` is the instance's own, or None when no token is required. ``find`` returns the
        holder of any other token, or the refusal if it isn't accepted."""
        self._hosts = {f"{name}:{port}" for name in _LOOPBACK} | set(hosts)
        if port == 80:
            self._hosts.update(_LOOPBACK)
        self._origins = {origin.rstrip("/") for origin in origins}
        self._token, self._port = token, port
        self._own = None if token is None else _bytes(token)
        self._find = find

    def check(
        self, headers: Mapping[str, str], path: str = "", query: str = ""
    ) -> TokenHolder | Refusal:
        """Return the sender of the request, or the refusal if the request isn't allowed. The rules
        are the same on every path, unless a subclass changes that."""
        refusal = self.check_origin(headers)
        if refusal is not None:
            return refusal
        if self._own is None:
            return ANYONE
        if path == instance_proof.PATH and self.proof(headers) is not None:
            return NOBODY
        if token := bearer(headers):
            if hmac.compare_digest(_bytes(token), self._own):
                return LOCAL
            holder = self._find(token)
            if holder is not None:
                return holder
        return NO_TOKEN

    def proof(self, headers: Mapping[str, str]) -> str | None:
        """Return the proof of the instance's identity, or None if the client doesn't know the
        instance's token."""
        challenge = headers.get(instance_proof.HEADER, "")
        return (
            None
            if self._token is None
            else instance_proof.proof(self._token, self._port, challenge)
        )

    def check_origin(self, headers: Mapping[str, str]) -> Refusal | None:
        """Check only Host and Origin, because a browser's preflight carries no token."""
        if headers.get("host", "").lower() not in self._hosts:
            return Refusal(421, "this Host is not served here; connect to 127.0.0.1")
        origin = headers.get("origin")
        if origin is not None and not self._allows(origin):
            return Refusal(403, "this Origin may not connect; allow it in callboard's settings")
        return None

    def _allows(self, origin: str) -> bool:
        if origin.rstrip("/") in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            # Only pages served by this very listener are allowed, and nothing else on this machine.
            return parts.scheme == "http" and parts.netloc.lower() in self._hosts
        except ValueError:
            return False


def bearer(headers: Mapping[str, str]) -> str:
    """Return the token that a request presents, or an empty string."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _bytes(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")


NOTHING_HERE = Refusal(404, "nothing is served here; MCP is at /mcp")
NO_TOKEN = Refusal(
    401,
    "the bearer token is missing, unknown or revoked; `callboard config CLIENT` writes one into a "
    "client's configuration",
)


def check_length(length: str) -> Refusal | None:
    """Check a Content-Length. Tornado handles a header that repeats the same length."""
    if not (length.isascii() and length.isdigit()):
        return None if "," in length else Refusal(400, "Content-Length must be a number")
    # Python refuses to read a number with thousands of digits.
    return TOO_LARGE if len(length) > 18 or int(length) > BODY_LIMIT else None


TOO_LARGE = Refusal(413, f"the body is over {BODY_LIMIT} bytes; send it in parts, or in a file")
