"""The route with which the user's command line starts the self-test."""

from __future__ import annotations

from collections.abc import Callable

from callboard.rest.problems import require_local
from callboard.rest.routes import ReadRequest, RestAnswer, Route
from callboard.rest.schemas import BOOLEAN
from callboard.selftest.self_test import SelfTest

PATH = "/v1/selftest"
_BODY = {
    "type": "object",
    "properties": {"discard": BOOLEAN},
    "required": ["discard"],
    "additionalProperties": False,
}


def selftest_route(self_test: Callable[[], SelfTest]) -> Route:
    """Return the route. ``self_test`` is made on the first request."""

    async def run(asked: ReadRequest) -> RestAnswer:
        require_local(asked.incoming.holder, "start the self-test", "selftest")
        return 200, await self_test().run(discard=asked.body["discard"])

    about = "Try the application in an empty scene"
    return Route("POST", PATH, about, run, {200: "Document"}, body=_BODY)
