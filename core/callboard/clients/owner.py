"""The rule of ownership for everything that a client makes and later requests by its id."""

from __future__ import annotations

from callboard.clients.holder import LOCAL, TokenHolder


class Owner:
    """The maker of a job, a run, a map, an undo step or a log line: a session, or the holder of a
    token when there is no session. All requests in a session share one value."""

    __slots__ = ("ended", "holder", "session")

    def __init__(self, holder: TokenHolder, session: str = "") -> None:
        self.holder = holder
        self.session = session
        #: True once the session has ended. Everything that it owned then belongs to the holder of
        #: the token.
        self.ended = False


def owns(owner: Owner, asker: Owner) -> bool:
    """Return whether the things that belong to ``owner`` are ``asker``'s own."""
    if owner.holder != asker.holder:
        return False
    return owner.ended or owner.session in ("", asker.session)


def may_see(owner: Owner, asker: Owner) -> bool:
    """Return whether ``asker`` may look up, list, answer, wait for or cancel what belongs to
    ``owner``. Other clients get the same answer as for something that doesn't exist. The command
    line's own token may do all of this."""
    return asker.holder == LOCAL or owns(owner, asker)
