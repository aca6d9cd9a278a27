"""The proof by which a server shows that it is the instance that its instance file describes.

A port outlives the process that had it. Another program may be listening on it by now, or the file
may come from another machine that shares the home. So the client first sends a nonce and a MAC of
it, made with the instance's token, and sends nothing else until the right MAC comes back. The MACs
include the port, so that they can't be relayed to an instance elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import NamedTuple

PATH = "/v1/prove"
HEADER = "Callboard-Challenge"
#: Maximum number of bytes in an answer.
MOST_BYTES = 4096
NOT_PROVED = (
    "another program is listening on the application's address, so nothing was sent there. Start "
    "the application again"
)


class Challenge(NamedTuple):
    """The challenge that one connection sends to the instance with this token."""

    token: str
    port: int
    nonce: str

    @staticmethod
    def new(token: str, port: int) -> Challenge:
        return Challenge(token, port, secrets.token_hex(16))

    @property
    def header(self) -> str:
        return f"{self.nonce} {_word(self.token, 'client', self.port, self.nonce)}"

    def is_proof(self, status: int, body: bytes) -> bool:
        """Return whether the answer comes from the instance."""
        try:
            proof = json.loads(body)["proof"] if status == 200 else ""
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        right = _word(self.token, "server", self.port, self.nonce)
        return hmac.compare_digest(str(proof).encode("utf-8", "replace"), right.encode())


def proof(token: str, port: int, header: str) -> str | None:
    """Return the instance's answer to a challenge, or None if the sender doesn't know the token."""
    nonce, _, word = header.partition(" ")
    right = _word(token, "client", port, nonce)
    if not hmac.compare_digest(word.encode("utf-8", "replace"), right.encode()):
        return None
    return _word(token, "server", port, nonce)


def _word(token: str, side: str, port: int, nonce: str) -> str:
    text = f"callboard {side} {port} {nonce}".encode("utf-8", "replace")
    return hmac.new(token.encode("utf-8", "surrogatepass"), text, hashlib.sha256).hexdigest()
