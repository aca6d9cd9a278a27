"""Proves to an instance that one of this user's own pages acts for the artist.

A client's token isn't enough for that, because an agent holds one. The key is a file that only this
user can read. Each instance receives a different word, which is derived from the key, so a
dishonest instance can't learn the word that another instance accepts.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

from callboard.clients.holder import new_token
from callboard.ground.folders import data_folder
from callboard.ground.private_file import read_private, write_private

#: The header that carries the word.
ARTIST_HEADER = "Callboard-Artist"
_MOST_BYTES = 200
_LEAST = 32


def make_artist_key() -> None:
    """Make the key if there is none. Raises OSError."""
    if _key() is None:
        write_private(_file(), new_token())


def artist_word(instance: str) -> str | None:
    """Return the word for the instance with this id, or None when there is no key. Reads a file."""
    key = _key()
    return None if key is None else hmac.new(key, instance.encode(), hashlib.sha256).hexdigest()


def is_artist(instance: str, word: str) -> bool:
    """Return whether ``word`` is the right word for the instance. Reads a file."""
    right = artist_word(instance)
    return right is not None and hmac.compare_digest(right.encode(), word.encode())


def _key() -> bytes | None:
    try:
        key = read_private(_file(), _MOST_BYTES)
    except (OSError, ValueError):
        return None
    return key if len(key) >= _LEAST else None


def _file() -> Path:
    return data_folder() / "artist.key"
