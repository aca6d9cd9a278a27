"""The platform's side of ``host(ctx)``, for a tool that runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from callboard.bundles.files.workspaces import Workspaces
from callboard.calls import client_questions
from callboard.calls.call import Call
from callboard.calls.client_questions import ROOTS_KEY, InputNeeded, read_answer
from callboard.content import Json
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.roots import RootsBook


class CallPlatform:
    """The platform that :func:`callboard.extensions.host` uses during one call. The roots are
    looked up when the tool first requests files, because most tools never request any."""

    def __init__(self, call: Call, bundle: str, book: RootsBook, workspaces: Workspaces) -> None:
        self._call = call
        self._bundle = bundle
        self._book = book
        self._workspaces = workspaces
        self.client_capabilities: Mapping[str, Any] = {"extensions": workspaces.extensions()}

    async def ask(self, method: str, params: Mapping[str, Any]) -> Json:
        """Return the answer to a request. Runs on the loop. Raises CallboardError."""
        roots = await self._roots()
        return await self._workspaces.answer(method, params, roots, self._bundle)

    async def _roots(self) -> WorkspaceRoots | None:
        call = self._call
        if call.roots is not None:
            return call.roots
        request = call.request
        if not request.peer.features.sessions and request.peer.offers("roots"):
            # The client answers with its next request, after which the tool is run again.
            ask = client_questions.roots()
            if ROOTS_KEY not in call.answers:
                raise InputNeeded({ROOTS_KEY: ask})
            roots: WorkspaceRoots = read_answer(ask, call.answers[ROOTS_KEY])
            if roots.first is not None:
                return await asyncio.to_thread(self._book.seen_by, request.peer, roots)
        return await self._book.of(request, needed=False)
