"""The client behind a call of a bundle's tool, as the bundle's server may ask it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from callboard.bundles.files.host_resources import METHODS
from callboard.bundles.files.workspaces import Workspaces
from callboard.calls.call import Call
from callboard.content import Json
from callboard.errors import MethodNotFound
from callboard.protocol.peer import Ask, AskFailed
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.roots import RootsBook

ROOTS = "roots/list"
#: What only the client itself can answer.
PASSED_ON = ("elicitation/create", "sampling/createMessage")


class Caller:
    """One call. ``roots`` are those whose files the bundle may read for it. On the loop."""

    def __init__(
        self,
        call: Call,
        roots: WorkspaceRoots | None,
        bundle: str,
        book: RootsBook,
        workspaces: Workspaces,
    ) -> None:
        self.call = call
        self.roots = roots
        self._bundle = bundle
        self._book = book
        self._workspaces = workspaces
        self._asked: Counter[str] = Counter()

    @property
    def capabilities(self) -> Json:
        """What the bundle's server is told that it may ask for during this call."""
        own = self.call.request.peer.capabilities
        passed_on = ("elicitation", "sampling")
        shared: Json = {name: own[name] for name in passed_on if isinstance(own.get(name), dict)}
        return {**shared, "roots": {}, "extensions": self._workspaces.extensions()}

    async def answer(self, method: str, params: Mapping[str, Any]) -> Json:
        """The answer to one of the server's requests. Raises CallboardError, and InputRequired
        where the client can only answer with its next request."""
        if method in METHODS:
            return await self._workspaces.answer(method, params, self.roots, self._bundle)
        request = self.call.request
        if method == ROOTS:
            return roots_answer(await self._book.of(request, needed=True))
        if method not in PASSED_ON:
            raise MethodNotFound(f"method not found: {method[:80]}")
        ask = Ask(method, {key: value for key, value in params.items() if key != "_meta"})
        key = self._key(ask)
        answer = (await request.ask_all({key: ask}))[key]
        if isinstance(answer, AskFailed):
            raise answer
        if not isinstance(answer, dict):
            raise AskFailed(f"the client's answer to {method} is no object")
        return answer

    def _key(self, ask: Ask) -> str:
        """The same for the same question, when the bundle's tool is run again with its answer."""
        params = {key: value for key, value in ask.params.items() if key != "elicitationId"}
        text = json.dumps([ask.method, params], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        self._asked[digest] += 1
        return f"{digest}_{self._asked[digest]}"


def roots_answer(roots: WorkspaceRoots | None) -> Json:
    """The result of ``roots/list``."""
    visible = roots.roots if roots is not None else ()
    return {"roots": [{"uri": root.uri, "name": root.name} for root in visible]}
