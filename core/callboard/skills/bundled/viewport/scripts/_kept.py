"""The newest pictures, kept so that an agent can compare later ones with them. Use this module only
on the main thread."""

from __future__ import annotations

from secrets import token_hex

from callboard.errors import WrongArgument
from callboard.skill import Picture, decode, encode

_MOST = 8
#: Pictures are kept encoded, as in a file, which takes a tenth of the memory. Ids can't be guessed,
#: because an id gives access.
_kept: dict[str, bytes] = {}


def keep(picture: Picture) -> str:
    """Keep a picture and return its id, which is valid until there are eight newer ones."""
    while len(_kept) >= _MOST:
        del _kept[next(iter(_kept))]
    id = token_hex(6)
    _kept[id] = encode(picture)
    return id


def earlier(id: str) -> Picture:
    """Return a kept picture. Raises WrongArgument when it is no longer kept."""
    if id not in _kept:
        raise WrongArgument(
            f"the picture '{id}' isn't kept: only the newest {_MOST} are; look without 'before', "
            "then pass the id from that answer as 'before' next time"
        )
    return decode(_kept[id])
