"""Calls a host's tools from inside the host's process, without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

from callboard.app import Callboard
from callboard.clients.holder import LOCAL, TokenHolder
from callboard.content import Json
from callboard.errors import CallboardError
from callboard.ground.version import __version__
from callboard.protocol.peer import ClientInfo, Peer, UnaskableRequest
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard_programs.client.http_client import RemoteError, pass_over
from callboard_programs.farm.orders import RunOwner

UNASKABLE = "a farm can't ask questions; give the answer as an argument"
#: Stands for the user who typed the command.
TYPED = RunOwner("callboard-farm", __version__, *LOCAL)


class DirectClient:
    """Stands in for :class:`callboard_programs.client.Client` inside the host's process. Use it
    from any thread but the host's main one."""

    def __init__(self, app: Callboard, asker: RunOwner = TYPED) -> None:
        """``asker`` is the client on whose behalf the calls are made."""
        self._handle, self._loop = app.service.handle, app.guest.loop
        who = ClientInfo(asker.name, asker.version)
        holder = TokenHolder(asker.holder, asker.holder_id)
        self._peer = Peer("farm", NEWEST_WITH_SESSIONS, who, {}, holder)
        self._ids = count(1)

    def request(
        self,
        method: str,
        params: Json,
        on_notification: Callable[[str, Json], None] = pass_over,
    ) -> Json:
        """Send a request and return its result. Errors are raised as RemoteError, as they are over
        HTTP."""
        request = UnaskableRequest(self._peer, next(self._ids), method, params, UNASKABLE)
        try:
            return asyncio.run_coroutine_threadsafe(self._handle(request), self._loop).result()
        except CallboardError as error:
            raise RemoteError(error.message, code=error.code, data=error.data) from None
