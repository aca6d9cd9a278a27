"""Whose workspace roots a call sees: the client's, else the artist's, else the host's project's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from callboard.changes import Changes
from callboard.protocol.peer import Ask, AskFailed, Peer, PeerRequest
from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots, parse_root

log = logging.getLogger(__name__)

#: How long a client may take to answer before its roots count as unknown, seconds. A client
#: without a stream of its own is asked when it calls, so the time starts when the question leaves.
ANSWER_TIMEOUT = 10.0
#: How long a call that needs roots waits for an answer that is under way, seconds.
CALL_PATIENCE = 2.0
_ASK = Ask("roots/list")


@dataclass
class ClientRoots:
    """What one client said about its roots. ``problem`` is for the panel: why there are none."""

    roots: WorkspaceRoots | None = None
    problem: str | None = None
    asking: asyncio.Task[Any] | None = field(default=None, repr=False)


class RootsBook:
    """Remembers each session's roots and answers what a call's roots are. On the server's loop."""

    def __init__(self, artist: Sequence[str | Root] = (), policy: RootsPolicy = "advisory") -> None:
        self.artist = [_artist_root(root) for root in artist]
        self.project: list[Root] = []
        self.policy: RootsPolicy = policy
        self.answer_timeout = ANSWER_TIMEOUT
        self.call_patience = CALL_PATIENCE
        self._changes: Changes[[]] = Changes()
        #: A client without a session is forgotten with its request.
        self._known: WeakKeyDictionary[Peer, ClientRoots] = WeakKeyDictionary()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls ``listener`` when a client came or went, when one named its roots, and when the
        artist's roots or the policy changed; returns the way to stop."""
        return self._changes.watch(listener)

    def set_artist(self, roots: Sequence[Root]) -> None:
        """Replaces the artist's own roots; the first is the workspace."""
        self.artist = list(roots)
        self._changes.tell()

    def set_project(self, folders: Sequence[str]) -> None:
        """The host's project folders, used where neither client nor artist named any."""
        self.project = [parse_root(folder, source="project") for folder in folders]

    def set_policy(self, policy: RootsPolicy) -> None:
        """Replaces the policy, for clients that are connected too."""
        self.policy = policy
        self._changes.tell()

    def known(self, peer: Peer) -> ClientRoots:
        """What the peer said so far."""
        entry = self._known.get(peer)
        if entry is None:
            entry = self._known[peer] = ClientRoots()
        return entry

    def forget(self, peer: Peer) -> None:
        asking = self.known(peer).asking
        if asking is not None:
            asking.cancel()
        self._changes.tell()

    def ask_session(self, peer: Peer) -> None:
        """Asks a session's client, now or anew."""
        self._changes.tell()
        if not peer.offers("roots"):
            return
        entry = self.known(peer)
        if entry.asking is not None:
            entry.asking.cancel()
        entry.asking = asyncio.get_running_loop().create_task(self._ask(peer, entry))

    async def _ask(self, peer: Peer, entry: ClientRoots) -> None:
        await self._note(entry, peer.ask(_ASK, self.answer_timeout))
        self._changes.tell()

    async def _note(self, entry: ClientRoots, answer: Awaitable[Any]) -> None:
        """A client that refuses to answer counts as one without roots."""
        try:
            result = await answer
        except AskFailed as refused:
            entry.roots, entry.problem = None, f"roots/list failed: {refused.message}"
            return
        if not isinstance(result, dict):
            entry.roots, entry.problem = None, "roots/list was answered without a list of roots"
            return
        entry.roots = WorkspaceRoots.from_client_roots(result.get("roots"), policy=self.policy)
        entry.problem = "; ".join(entry.roots.problems) or None

    async def of(self, request: PeerRequest, *, needed: bool) -> WorkspaceRoots | None:
        """The roots that a call sees, or None without any. ``needed`` says that the call can't do
        without: only then is a client asked that can't be asked beforehand."""
        return self.seen_with(await self._of_client(request, needed))

    def seen_with(self, client: WorkspaceRoots | None) -> WorkspaceRoots | None:
        """The roots that a call sees whose client named these; None without any."""
        if client is not None and client.first is not None:
            # What the artist marked read-only stays so, whatever the client calls its roots.
            guarded = [root for root in self.artist if root.read_only]
            return WorkspaceRoots([*client.roots, *guarded], policy=self.policy)
        roots = self.artist or self.project
        if roots or self.policy == "strict":
            return WorkspaceRoots(roots, policy=self.policy)
        return None

    async def _of_client(self, request: PeerRequest, needed: bool) -> WorkspaceRoots | None:
        peer = request.peer
        if not peer.offers("roots"):
            return None
        entry = self.known(peer)
        if not peer.features.sessions:
            if needed:
                await self._note(entry, request.ask(_ASK))
        elif entry.asking is not None and not entry.asking.done():
            request.flush_waiting()
            await asyncio.wait([entry.asking], timeout=self.call_patience)
        return entry.roots


def _artist_root(root: str | Root) -> Root:
    return root if isinstance(root, Root) else parse_root(root)
