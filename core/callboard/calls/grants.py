"""Permissions that the artist gives a client, for a session or for the project, to act without
asking the artist.

Permission for a single call isn't a grant, because it ends with that call and isn't saved.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from time import monotonic, time
from types import MappingProxyType
from typing import Literal, NamedTuple

from callboard.clients.holder import SILENCE, TokenHolder
from callboard.protocol.peer import Peer

Subject = Literal["script", "destructive", "outside_roots", "client_roots", "farm"]
ConsentPolicy = Literal["ask", "ask_once", "allow", "refuse"]
DEFAULT_POLICIES: dict[Subject, ConsentPolicy] = {
    "script": "ask",
    "destructive": "allow",
    "outside_roots": "ask_once",
}
Scope = Literal["session", "project"]


class ToolOrigin(NamedTuple):
    """Fingerprints of a tool at the time when the artist allowed it. A tool with the same name but
    a different origin isn't the tool that was allowed."""

    origin: str = ""
    description: str = ""
    arguments: str = ""

    def changed(self, other: ToolOrigin) -> list[str]:
        """Return the names of the fields that differ."""
        pairs = zip(self._fields, self, other, strict=True)
        return [name for name, one, two in pairs if one != two]


_NONE = ToolOrigin()


class Grant(NamedTuple):
    """One rule. It allows ``client`` to do the kind of thing that ``subject`` names. It covers
    ``tool``, or any tool if ``tool`` is None.

    ``made`` is Unix time in seconds. ``by`` is the name of the grant's author. ``session`` is the
    session with which the grant ends, or empty for a client without one. ``origins`` are the
    fingerprints of that one tool, or of all tools by other authors, when the grant was made: a
    grant for any tool covers only shipped tools and the tools that existed then.
    """

    id: str
    client: TokenHolder
    subject: Subject
    tool: str | None
    scope: Scope
    made: float
    by: str = "artist"
    session: str = ""
    origins: Mapping[str, ToolOrigin] = MappingProxyType({})

    def covers(self, tool: str, origin: ToolOrigin, is_shipped: bool) -> bool:
        """Return whether the grant covers the tool with this name and origin."""
        if self.tool is None and is_shipped:
            return True
        return self.tool in (None, tool) and self.origins.get(tool, _NONE) == origin


class Grants:
    """The rules now in force. Use it on the server's loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._grants: dict[str, Grant] = {}
        #: For each client without a session, the time of its last request that a grant covered.
        self._heard: dict[TokenHolder, float] = {}

    def all(self) -> tuple[Grant, ...]:
        """Return all grants, oldest first."""
        self._expire()
        return tuple(self._grants.values())

    def project(self) -> tuple[Grant, ...]:
        return tuple(grant for grant in self._grants.values() if grant.scope == "project")

    def replace_project(self, grants: Iterable[Grant]) -> None:
        """Replace all project grants with those of the project that was opened."""
        kept = {grant.id: grant for grant in grants}
        kept.update((id, one) for id, one in self._grants.items() if one.scope != "project")
        self._grants = kept

    def cover(
        self,
        peer: Peer,
        subject: Subject,
        tool: str,
        origin: ToolOrigin = _NONE,
        *,
        is_shipped: bool = True,
    ) -> bool:
        """Return whether a grant allows this peer to do this without asking the artist."""
        self._expire()
        session = peer.session
        covered = any(
            grant.client == peer.holder
            and grant.subject == subject
            and grant.covers(tool, origin, is_shipped)
            and (grant.scope == "project" or grant.session == session)
            for grant in self._grants.values()
        )
        if covered and not session:
            self._heard[peer.holder] = self._clock()
        return covered

    def add(
        self,
        peer: Peer,
        subject: Subject,
        tool: str | None,
        scope: Scope,
        origins: Mapping[str, ToolOrigin] = MappingProxyType({}),
    ) -> Grant:
        session = peer.session if scope == "session" else ""
        id = secrets.token_hex(8)
        grant = Grant(
            id, peer.holder, subject, tool, scope, time(), session=session, origins=origins
        )
        self._grants[id] = grant
        if not session:
            self._heard[peer.holder] = self._clock()
        return grant

    def remove(self, which: Callable[[Grant], bool]) -> list[Grant]:
        """End the grants for which ``which`` returns true, and return them."""
        gone = [grant for grant in self._grants.values() if which(grant)]
        for grant in gone:
            del self._grants[grant.id]
        return gone

    def _expire(self) -> None:
        oldest = self._clock() - SILENCE
        silent = {client for client, heard in self._heard.items() if heard <= oldest}
        if silent:
            for client in silent:
                del self._heard[client]
            self.remove(
                lambda one: one.client in silent and one.scope == "session" and not one.session
            )
