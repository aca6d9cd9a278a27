"""The questions that a tool may ask its client, the same in both protocol eras.

A tool asks with ``ctx.elicit(…)`` and friends. While the answer is missing, these methods raise
:class:`InputNeeded`: the call ends, its undo step is rolled back, the client is asked, and the
function runs again from its start with the answers so far. So a tool must ask all its questions
before it first changes the scene.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from callboard.calls.invisible import meant
from callboard.calls.json_schema import SchemaViolation, Validator
from callboard.content import Json
from callboard.errors import InvalidParams, SkillError
from callboard.protocol.peer import Ask, AskFailed
from callboard.workspace.containment import WorkspaceRoots

#: Maximum number of rounds of questions in one call.
ROUND_LIMIT = 20
ROOTS_KEY = "client_roots"
ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
#: A question that the server answers itself.
READ_RESOURCE = "resources/read"


class InputNeeded(BaseException):
    """Ends a tool's run because its client has to be asked. Not an ``Exception``, so that ``except
    Exception`` in a tool doesn't catch it."""

    def __init__(self, asks: Mapping[str, Ask]) -> None:
        super().__init__("a tool that asks is run again; don't catch this")
        self.asks = dict(asks)


class BadAnswer(InvalidParams):
    """The client's answer doesn't fit the question."""


class AskedTooLate(SkillError):
    """The tool asked a question after it had begun to change the scene."""


class Elicited(NamedTuple):
    """The person's answer. ``action`` is accept, decline or cancel. ``content`` is set when a form
    was accepted, and then fits the form's schema."""

    action: Literal["accept", "decline", "cancel"]
    content: Json

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


def elicitation(message: str, schema: Mapping[str, Any]) -> Ask:
    """Return a question that shows the client's user a form. ``schema`` is a flat object of
    strings, numbers, booleans and enums (2025-11-25, Elicitation)."""
    params = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
    return Ask(ELICIT, params)


def url_elicitation(message: str, url: str, elicitation_id: str) -> Ask:
    """Return a question that sends the client's user to a web page, for input that the client must
    not see."""
    params = {
        "mode": "url",
        "message": message,
        "url": url,
        "elicitationId": elicitation_id,
    }
    return Ask(ELICIT, params)


def sampling(messages: str | list[Json], max_tokens: int, **options: Any) -> Ask:
    """Return a request for a completion by the client's model. A string is one user message."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    return Ask(SAMPLE, {"messages": messages, "maxTokens": max_tokens, **options})


def roots() -> Ask:
    return Ask("roots/list")


def read_answer(ask: Ask, answer: Any) -> Any:
    """Return an answer as the tool sees it. Raises AskFailed when the client refused, and BadAnswer
    when the answer doesn't fit the question."""
    if isinstance(answer, AskFailed):
        raise answer
    if ask.method == READ_RESOURCE:
        return answer
    if not isinstance(answer, dict):
        raise BadAnswer(f"the answer to {ask.method} must be an object")
    if ask.method == ELICIT:
        return _read_elicited(ask, answer)
    if ask.method == SAMPLE:
        if not isinstance(answer.get("content"), (dict, list)):
            raise BadAnswer("the answer to sampling/createMessage has no content")
        return answer
    if ask.method == "roots/list":
        if not isinstance(answer.get("roots"), list):
            raise BadAnswer("the answer to roots/list has no list of roots")
        return WorkspaceRoots.from_client_roots(answer["roots"])
    return answer


def _read_elicited(ask: Ask, answer: Json) -> Elicited:
    action = answer.get("action")
    if action not in ("accept", "decline", "cancel"):
        raise BadAnswer("the answer to an elicitation needs an action: accept, decline or cancel")
    content = meant(answer.get("content") or {})
    if action == "accept" and "requestedSchema" in ask.params:
        try:
            Validator(ask.params["requestedSchema"], name="content").check(content)
        except SchemaViolation as wrong:
            raise BadAnswer(f"the answer does not fit the form: {wrong}") from None
    return Elicited(action, content if action == "accept" else {})
