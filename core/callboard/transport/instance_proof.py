"""A server proves that it is the instance of a file before anybody shows it a token.

A port outlives the process that had it: a stranger may listen there by now, or it may be that of
another machine that shares the home. Whoever connects sends a nonce with a word made of it by the
instance's own token, and sends nothing else until the right word comes back. The words hold the
port, so that nobody passes them on to an instance elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass

PATH = "/v1/prove"
HEADER = "Callboard-Challenge"
#: Bytes of an answer.
MOST_BYTES = 4096
NOT_PROVED = (
    "another program listens at the application's address: nothing was sent to it. Start the "
    "application again"
)


@dataclass(frozen=True)
class Challenge:
    """Of one connection to the instance with that token."""

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
        """Whether the answer comes from the instance."""
        try:
            proof = json.loads(body)["proof"] if status == 200 else ""
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        right = _word(self.token, "server", self.port, self.nonce)
        return hmac.compare_digest(str(proof).encode("utf-8", "replace"), right.encode())


def proof(token: str, port: int, header: str) -> str | None:
    """What the instance answers to a challenge; None where it comes from nobody who knows its
    token."""
    nonce, _, word = header.partition(" ")
    right = _word(token, "client", port, nonce)
    if not hmac.compare_digest(word.encode("utf-8", "replace"), right.encode()):
        return None
    return _word(token, "server", port, nonce)


def _word(token: str, side: str, port: int, nonce: str) -> str:
    text = f"callboard {side} {port} {nonce}".encode("utf-8", "replace")
    return hmac.new(token.encode("utf-8", "surrogatepass"), text, hashlib.sha256).hexdigest()
