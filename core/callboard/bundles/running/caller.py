"""The client behind a call to a bundle's tool. The bundle's server may ask the client questions."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callboard.bundles.files.bundle_host import offered_by
from callboard.bundles.files.host_resources import CAPABILITY, METHODS
from callboard.bundles.files.workspaces import Workspaces
from callboard.bundles.running.errors import BundleError
from callboard.calls.call import Call
from callboard.calls.invisible import shown
from callboard.content import Json
from callboard.errors import CallboardError, MethodNotFound
from callboard.protocol.peer import Ask, AskFailed
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.path_text import file_uri
from callboard.workspace.roots import RootsBook

ROOTS = "roots/list"
#: Methods that only the client itself can answer.
PASSED_ON = ("elicitation/create", "sampling/createMessage")


class Caller:
    """One client's call. ``roots`` are the roots whose files the bundle may read for the call. Use
    it on the loop."""

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
        """The capabilities that the bundle's server may use during this call."""
        own = self.call.request.peer.capabilities
        passed_on = ("elicitation", "sampling")
        shared: Json = {name: own[name] for name in passed_on if isinstance(own.get(name), dict)}
        theirs = offered_by(own)
        extensions = {CAPABILITY: theirs} if theirs else self._workspaces.extensions()
        return {**shared, "roots": {}, "extensions": extensions}

    async def answer(self, method: str, params: Mapping[str, Any]) -> Json:
        """Return the answer to one of the server's requests. Raises CallboardError, and
        InputRequired when the client can only answer with its next request."""
        request = self.call.request
        # The URIs that a client's agent passes are the client's own, if the client offers files.
        to_client = method in PASSED_ON or (
            method in METHODS and bool(offered_by(request.peer.capabilities))
        )
        if method in METHODS and not to_client:
            return await self._workspaces.answer(method, params, self.roots, self._bundle)
        if method == ROOTS:
            return await roots_answer(await self._book.of(request, needed=True))
        if not to_client:
            raise MethodNotFound(f"method not found: {method[:80]}")
        asked = {key: value for key, value in params.items() if key != "_meta"}
        if method == "elicitation/create":
            # A person who is asked for something must be able to see who is asking.
            asked["message"] = f"{self._bundle}: {asked.get('message', '')}"
        if method in PASSED_ON:
            asked = shown(asked)
        ask = Ask(method, asked)
        key = self._key(ask)
        answer = (await request.ask_all({key: ask}))[key]
        if isinstance(answer, AskFailed):
            raise answer
        if not isinstance(answer, dict):
            raise AskFailed(f"the client's answer to {method} isn't an object")
        problem = answer.get("error") if method in METHODS else None
        if isinstance(problem, dict) and isinstance(problem.get("code"), int):
            # The form of an error from a client that answers with its next request.
            data = problem.get("data")
            raise CallboardError(
                str(problem.get("message", ""))[:2000],
                code=problem["code"],
                data=data if isinstance(data, dict) else None,
            )
        return answer

    async def answers(self, answer: Mapping[str, Any]) -> Json:
        """Return the parameters for the next round of a request that was answered with questions
        (2026-07-28, Multi Round-Trip Requests). Raises the same errors as :meth:`answer`."""
        asked = answer.get("inputRequests", {})
        if not isinstance(asked, dict):
            raise BundleError("the bundle's request for input is malformed")
        given: Json = {}
        for key, ask in asked.items():
            method = ask.get("method") if isinstance(ask, dict) else None
            if not isinstance(method, str):
                raise BundleError("the bundle's request for input is malformed")
            params = ask.get("params")
            try:
                given[key] = await self.answer(method, params if isinstance(params, dict) else {})
            except CallboardError as error:
                if method not in METHODS:
                    raise
                problem: Json = {"code": error.code, "message": error.message}
                given[key] = {"error": {**problem, "data": error.data or {}}}
        result: Json = {"inputResponses": given}
        if "requestState" in answer:
            result["requestState"] = answer["requestState"]
        return result

    def _key(self, ask: Ask) -> str:
        """Return a key for the question that is the same when the tool is run again with the
        answer."""
        params = {key: value for key, value in ask.params.items() if key != "elicitationId"}
        text = json.dumps([ask.method, params], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        self._asked[digest] += 1
        return f"{digest}_{self._asked[digest]}"


async def roots_answer(roots: WorkspaceRoots | None) -> Json:
    """Return the result of ``roots/list``: only the existing folders, with URIs made from their
    paths."""
    paths = [(root.path, root.name) for root in roots.roots] if roots is not None else []
    return {"roots": await asyncio.to_thread(_folders, paths)}


def _folders(roots: Sequence[tuple[str | None, str]]) -> list[Json]:
    return [{"uri": file_uri(path), "name": name} for path, name in roots if path and _is_dir(path)]


def _is_dir(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False
