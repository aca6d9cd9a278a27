"""A person's answers about the folders that clients named outside the artist's roots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic

from callboard.clients.holder import SILENCE, TokenHolder
from callboard.protocol.peer import Peer

#: A client, the session with which the answer ends (empty if there is none), and the folder.
_Key = tuple[TokenHolder, str, str]


class OutsideAnswers:
    """The answers, each for one client. An answer lasts until the session ends, or, without a
    session, until the client has been silent for an hour. Runs on the server's loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._answers: dict[_Key, bool] = {}
        #: For each client that has answers here but no session, the time of its latest request.
        self._heard: dict[TokenHolder, float] = {}

    def keep(self, peer: Peer, paths: Iterable[str], allowed: bool) -> None:
        self._heard[peer.holder] = self._clock()
        self._answers.update({(peer.holder, peer.session, path): allowed for path in paths})

    def unanswered(self, peer: Peer, paths: Iterable[str]) -> list[str]:
        """Return the paths for which this peer has no answer yet."""
        self._expire()
        return [path for path in paths if (peer.holder, peer.session, path) not in self._answers]

    def allowed(self, peer: Peer) -> list[str]:
        """Return the folders that a person allowed for this peer."""
        self._expire()
        owner = (peer.holder, peer.session)
        folders = [key[2] for key, yes in self._answers.items() if yes and key[:2] == owner]
        if folders and not peer.session:
            self._heard[peer.holder] = self._clock()
        return folders

    def forget_session(self, session: str) -> None:
        self._drop(lambda key: bool(session) and key[1] == session)

    def forget_client(self, holder: TokenHolder) -> None:
        self._drop(lambda key: key[0] == holder)

    def _drop(self, which: Callable[[_Key], bool]) -> None:
        self._answers = {key: yes for key, yes in self._answers.items() if not which(key)}

    def _expire(self) -> None:
        oldest = self._clock() - SILENCE
        silent = {holder for holder, heard in self._heard.items() if heard <= oldest}
        if silent:
            self._drop(lambda key: key[0] in silent and not key[1])
            self._heard = {who: heard for who, heard in self._heard.items() if who not in silent}
