"""The calls that a bundle's server is working on. They determine which clients receive its
questions and progress."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from callboard.bundles.files.host_resources import METHODS
from callboard.bundles.files.workspaces import Workspaces
from callboard.bundles.running.caller import ROOTS, Caller, roots_answer
from callboard.calls.invisible import shown
from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.errors import MethodNotFound, PeerError
from callboard.workspace.containment import WorkspaceRoots

log = logging.getLogger(__name__)

#: Seconds for which a server may still ask questions on behalf of a cancelled call.
AFTERLIFE = 30.0


class Callers:
    """The calls to one bundle that are waiting for its server, by the request's id. Use it on the
    loop."""

    def __init__(
        self, bundle: str, workspaces: Workspaces, own_roots: Callable[[], WorkspaceRoots]
    ) -> None:
        """``own_roots`` returns the roots that the server sees outside any call."""
        self._bundle = bundle
        self._workspaces = workspaces
        self._own_roots = own_roots
        #: Done once the server has read its roots, inside or outside a call. None until the server
        #: has read them for the first time.
        self._known_roots: asyncio.Future[None] | None = None
        self._waiting: dict[int, Caller] = {}
        #: Cancelled calls, each with the time of its cancellation. The server may still be working
        #: on them.
        self._abandoned: deque[tuple[float, Caller]] = deque()
        #: The owners of all calls so far. The server's own log lines may quote any of these calls.
        #: Read from any thread, so it is replaced and never changed.
        self.served: tuple[Owner, ...] = ()

    @contextmanager
    def waiting(self, id: int, caller: Caller) -> Iterator[None]:
        """Note that the request ``id`` is running for ``caller`` until the block ends."""
        self._waiting[id] = caller
        self._note_owner(caller.call.request.peer.owner)
        try:
            yield
        except asyncio.CancelledError:
            self._abandoned.append((monotonic(), caller))
            raise
        finally:
            del self._waiting[id]

    def _note_owner(self, owner: Owner) -> None:
        if owner in self.served:
            return
        # Once a session has ended, everything that it owned belongs to the holder of its token.
        owners = [Owner(one.holder) if one.ended else one for one in (*self.served, owner)]
        self.served = tuple({(one.holder, one.session): one for one in owners}.values())

    def asking(self, method: str) -> tuple[int, Caller | None]:
        """Return the id and the call that the server's question is for, or 0 and None when no call
        is running. A question doesn't name its call, so it is refused (PeerError) when it could be
        for one of several clients."""
        if not self._waiting:
            return 0, None
        id, caller = next(reversed(self._waiting.items()))
        possible = self._possible()
        if len({one.call.request.peer for one in possible}) == 1:
            return id, caller
        names = {self._workspaces.name(one.roots) for one in possible}
        if len(names) == 1 and method in METHODS:
            return id, caller
        raise PeerError(
            "calls from several clients are running, so it isn't known which client to ask; ask "
            "again later"
        )

    async def answer_own(self, method: str, params: Json) -> Json:
        """Return the answer to a question asked outside any call, using the server's own roots and
        no client. Raises CallboardError."""
        own = self._own_roots()
        if method in METHODS:
            return await self._workspaces.answer(method, params, own, self._bundle)
        if method == ROOTS:
            return await roots_answer(own)
        raise MethodNotFound(f"method not found outside a call: {method[:80]}")

    def notified(self, method: str) -> None:
        """Note that a question from the server was answered. Roots that a starting server reads
        during a call count too, because the server may keep them."""
        if method == ROOTS:
            if self._known_roots is None:
                self._known_roots = asyncio.get_running_loop().create_future()
            if not self._known_roots.done():
                self._known_roots.set_result(None)

    def expect_roots(self) -> asyncio.Future[None] | None:
        """Return a future that is done once the server has read its roots again, or None if it has
        never read them."""
        if self._known_roots is None:
            return None
        if self._known_roots.done():
            self._known_roots = asyncio.get_running_loop().create_future()
        return self._known_roots

    def progress(self, params: Json) -> None:
        """Pass ``notifications/progress`` on to the call that it names."""
        token, done, total = (params.get(key) for key in ("progressToken", "progress", "total"))
        caller = self._waiting.get(token) if type(token) is int else None
        if caller is not None and isinstance(done, (int, float)):
            message = params.get("message")
            caller.call.send_progress(
                done,
                total if isinstance(total, (int, float)) else None,
                message[:2000] if isinstance(message, str) else None,
            )

    def log(self, params: Json) -> None:
        """Pass ``notifications/message`` on to the client if it can be meant for only one client,
        or else to our log."""
        data, level = params.get("data"), params.get("level")
        text = shown((data if isinstance(data, str) else str(data))[:4000])
        peers = {one.call.request.peer for one in self._possible()}
        if self._waiting and len(peers) == 1 and isinstance(level, str):
            next(reversed(self._waiting.values())).call.send_log(level, text, {})
        else:
            log.info("%s: %.400s", self._bundle, text, extra={"owners": self.served})

    def _possible(self) -> list[Caller]:
        """Return the calls that the server may be asking or reporting about."""
        oldest = monotonic() - AFTERLIFE
        while self._abandoned and self._abandoned[0][0] < oldest:
            self._abandoned.popleft()
        return [*self._waiting.values(), *(caller for _, caller in self._abandoned)]
