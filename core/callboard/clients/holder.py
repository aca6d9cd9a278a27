"""A client is who holds a token."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple


class TokenHolder(NamedTuple):
    """One client. ``id`` is its token's own: whoever is given the name later is somebody else."""

    name: str
    id: str


#: Holds the instance's own token, as this user's command line does.
LOCAL = TokenHolder("local", "local")
#: Everybody, where no token is asked for.
ANYONE = TokenHolder("anyone", "anyone")

#: Seconds of silence after which a client without a session is taken to be gone.
SILENCE = 3600.0

#: Has not said yet who it is.
NOBODY = TokenHolder("", "")


def new_token() -> str:
    """256 random bits, as text for a header."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What is kept of a token. One round of SHA-256 is enough: a password needs a slow hash since
    people choose it; nobody tries out 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
