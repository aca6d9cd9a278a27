"""Determines the workspace roots that a call sees. These are the client's, or else the artist's, or
else those of the host's project.

If the artist has named roots, they limit the client's. A client's root inside them narrows the
workspace, and a root outside of them counts only once a person has allowed it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.errors import PeerError, WorkspaceResolveError
from callboard.protocol.peer import Ask, AskFailed, Peer, PeerRequest
from callboard.workspace.artist_limit import LimitedRoots, is_whole_disk, judge, within
from callboard.workspace.containment import Root, RootsPolicy, WorkspaceRoots, parse_root
from callboard.workspace.outside_answers import OutsideAnswers

log = logging.getLogger(__name__)

#: Seconds within which a client must answer. After that, its roots are considered unknown. A client
#: without a stream of its own is asked when it calls, so the time starts when the question is sent.
ANSWER_TIMEOUT = 10.0
#: Seconds for which a call that needs roots waits for its client's answer.
CALL_PATIENCE = 2.0
_ASK = Ask("roots/list")

#: Runs work in a thread that may block, because the work may wait for a disk.
InThread = Callable[[Callable[[], LimitedRoots]], Awaitable[LimitedRoots]]
#: Asks a person whether these folders of a client count: for this call, from now on, or not. The
#: answer is None when no person can be asked.
AskPerson = Callable[
    [Sequence[Root]], Awaitable[Literal["allow", "allow_session", "refuse"] | None]
]


class ClientRoots:
    """One client's answer about its roots. ``problem`` says why there are none."""

    def __init__(self, roots: WorkspaceRoots | None = None) -> None:
        self.roots = roots
        self.problem: str | None = None
        self.asking: asyncio.Task[Any] | None = None
        #: True when the client reported that its roots changed and hasn't sent the new ones.
        self.outdated = False
        #: The roots compared with the artist's, as they were when a call last needed them.
        self.judged: LimitedRoots | None = None


class RootsBook:
    """Keeps each session's roots, and returns the roots that a call sees. Runs on the server's
    loop."""

    def __init__(
        self,
        artist: Sequence[str | Root] = (),
        policy: RootsPolicy = "advisory",
    ) -> None:
        self._chosen = [_artist_root(root) for root in artist]
        self._limit: WorkspaceRoots | None = None
        self.artist = list(self._chosen)
        self.project: list[Root] = []
        self._chosen_by_call: list[str] | None = None
        self._always_strict = False
        self._chosen_policy = policy
        self.policy: RootsPolicy = policy
        self.answer_timeout = ANSWER_TIMEOUT
        self.call_patience = CALL_PATIENCE
        self._changes: Changes[[]] = Changes()
        #: A client without a session is forgotten after its request.
        self._known: WeakKeyDictionary[Peer, ClientRoots] = WeakKeyDictionary()
        self._answers = OutsideAnswers()
        #: The studio's asset folders, if any, which are the only ones that the asset tools see.
        self.library: WorkspaceRoots | None = None

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when a client comes or goes, when a client names its roots, and when
        the artist's roots or the policy change. Return a function that removes the listener."""
        return self._changes.watch(listener)

    def set_artist(self, roots: Sequence[Root]) -> None:
        """Replace the artist's own roots. The first one is the workspace."""
        self._chosen = list(roots)
        self.artist = within(self._chosen, self._limit)
        self._changes.tell()

    def lock(self, limit: Sequence[str | Root], *, always_strict: bool) -> None:
        """Allow only paths in the folders of ``limit``, if there are any, no matter who adds a
        root. With ``always_strict`` the policy is strict, whatever the artist chooses."""
        folders = [_artist_root(root) for root in limit]
        self._limit = WorkspaceRoots(folders) if folders else None
        self.artist = within(self._chosen, self._limit)
        self._always_strict = always_strict
        self.set_policy(self._chosen_policy)

    def set_project(self, folders: Sequence[str]) -> None:
        """Set the host's project folders, which are used when neither the client nor the artist has
        named any."""
        self.project = []
        for folder in folders:
            try:
                self.project.append(parse_root(folder, source="project"))
            except WorkspaceResolveError as wrong:
                log.warning("the host's project folder is ignored: %s", wrong.message)

    def project_changed(self, folders: Sequence[str], by_call: bool) -> bool:
        """Note that the host's project folders changed, and return whether the new ones count.
        Folders that a call saved into or opened don't count, not even when the artist saves there
        again."""
        if by_call:
            self._chosen_by_call = list(folders)
        elif list(folders) != self._chosen_by_call:
            self._chosen_by_call = None
            self.set_project(folders)
            return True
        return False

    def set_policy(self, policy: RootsPolicy) -> None:
        """Replace the policy, including for the connected clients."""
        self._chosen_policy = policy
        self.policy = "strict" if self._always_strict else policy
        self._changes.tell()

    def known(self, peer: Peer) -> ClientRoots:
        """Return what the peer has answered so far."""
        entry = self._known.get(peer)
        if entry is None:
            entry = self._known[peer] = ClientRoots()
        return entry

    def left_out(self, peer: Peer) -> list[str]:
        """Return why some roots that the peer named don't count, as determined at its last call."""
        entry = self.known(peer)
        named = () if entry.roots is None else entry.roots.roots
        outside = entry.judged.outside if entry.judged is not None and self.artist else ()
        allowed = self._allowed(peer)
        return [
            *([entry.problem] if entry.problem else ()),
            *(
                f"{root.path} isn't used: it is a whole disk"
                for root in named
                if is_whole_disk(root)
            ),
            *(
                f"{root.path} isn't used: it is outside the artist's roots"
                for root in outside
                if root.path not in allowed
            ),
        ]

    def forget(self, peer: Peer) -> None:
        asking = self.known(peer).asking
        if asking is not None:
            asking.cancel()
        self._answers.forget_session(peer.session)
        self._changes.tell()

    def forget_client(self, holder: TokenHolder) -> None:
        """Forget the folders that were allowed for a client that has been revoked."""
        self._answers.forget_client(holder)
        self._changes.tell()

    def ask_session(self, peer: Peer, *, changed: bool = False) -> None:
        """Ask a session's client for its roots. With ``changed``, its earlier answer no longer
        counts."""
        self._changes.tell()
        if not peer.offers("roots"):
            return
        entry = self.known(peer)
        if entry.asking is not None:
            entry.asking.cancel()
        if changed:
            entry.roots, entry.judged, entry.outdated = None, None, True
        entry.asking = asyncio.get_running_loop().create_task(self._ask(peer, entry))

    async def _ask(self, peer: Peer, entry: ClientRoots) -> None:
        await self._note(entry, peer.ask(_ASK, self.answer_timeout))
        self._changes.tell()

    async def _note(self, entry: ClientRoots, answer: Awaitable[Any]) -> None:
        """Note the answer. A client that refuses to answer is treated as having no roots."""
        try:
            result = await answer
            entry.outdated = False
        except AskFailed as refused:
            entry.outdated = False
            entry.roots, entry.problem = None, f"roots/list failed: {refused.message}"
            return
        if not isinstance(result, dict):
            entry.roots, entry.problem = None, "roots/list was answered without a list of roots"
            return
        entry.roots = WorkspaceRoots.from_client_roots(result.get("roots"), policy=self.policy)
        entry.problem = "; ".join(entry.roots.problems) or None

    async def of(
        self,
        request: PeerRequest,
        *,
        needed: bool,
        in_thread: InThread | None = None,
        ask: AskPerson | None = None,
    ) -> WorkspaceRoots | None:
        """Return the roots that a call sees, or None if there are none. ``needed`` is True when the
        call can't run without roots: a client without a session is asked only in that case. Without
        ``ask``, no person is asked."""
        client = await self._of_client(request, needed)
        if client is None or client.roots is None or client.roots.first is None or not self.artist:
            return self._without_ceiling(client)
        roots, artist = client.roots, tuple(self.artist)
        judged = client.judged
        if judged is None or judged.client is not roots or judged.artist != artist:
            judged = client.judged = await (in_thread or _in_thread)(partial(judge, roots, artist))
        for_now = await self._ask_about(request.peer, judged, ask)
        allowed = [*self._allowed(request.peer), *for_now]
        return judged.roots(allowed, self.policy, self._limit)

    async def _ask_about(
        self, peer: Peer, judged: LimitedRoots, ask: AskPerson | None
    ) -> list[str]:
        """Return the folders that a person allows for this call alone. Any other answer is
        stored."""
        paths = self._answers.unanswered(peer, (str(root.path) for root in judged.outside))
        new = [root for root in judged.outside if str(root.path) in paths]
        answer = await ask(new) if new and ask and self.policy != "strict" else None
        if answer == "allow":
            return paths
        if answer is not None:
            self._answers.keep(peer, paths, answer == "allow_session")
            self._changes.tell()
        return []

    def _allowed(self, peer: Peer) -> list[str]:
        return [] if self.policy == "strict" else self._answers.allowed(peer)

    def seen_by(self, peer: Peer | None, named: WorkspaceRoots | None = None) -> WorkspaceRoots:
        """Return the roots that a call by this peer sees, without asking. ``named`` are roots to
        use instead of those that the peer's session named. May wait for a disk. Call it from any
        thread."""
        client = None if peer is None else self._known.get(peer)
        if named is not None:
            client = ClientRoots(named)
        if peer is None or client is None or client.roots is None or not self.artist:
            return self._without_ceiling(client) or WorkspaceRoots()
        judged = judge(client.roots, tuple(self.artist))
        return judged.roots(self._allowed(peer), self.policy, self._limit)

    def _without_ceiling(self, client: ClientRoots | None) -> WorkspaceRoots | None:
        if not self.artist and client is not None and client.roots is not None:
            named = [root for root in client.roots.roots if not is_whole_disk(root)]
            if any(root.path is not None for root in named):
                return WorkspaceRoots(named, policy=self.policy)
        roots = self.artist or self.project
        if roots or self.policy == "strict":
            return WorkspaceRoots(roots, policy=self.policy, ceiling=self._limit)
        return None

    async def _of_client(self, request: PeerRequest, needed: bool) -> ClientRoots | None:
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
            if entry.outdated:
                raise PeerError(
                    "the client reported changed roots and has not answered roots/list yet; "
                    "answer it, and call again"
                )
        return entry


async def _in_thread(work: Callable[[], LimitedRoots]) -> LimitedRoots:
    return await asyncio.get_running_loop().run_in_executor(None, work)


def _artist_root(root: str | Root) -> Root:
    return root if isinstance(root, Root) else parse_root(root)
