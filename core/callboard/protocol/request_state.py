"""The state that a stateless client carries between two rounds. It is signed, expires soon and can
be used only once.

The state holds the answers of earlier rounds. It is bound to the method, the params and the client
that it was made for. So answers given for one call can't be used for another call, or by another
client (2026-07-28, Multi Round-Trip Requests: requestState is attacker-controlled).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from callboard.content import Json
from callboard.errors import InvalidParams

#: Seconds that a client, and the person it asks, may take for one round.
LIFETIME = 900
#: Maximum number of used states that are remembered. Beyond that, older states are treated as
#: expired.
MEMORY = 10_000


class RequestStates:
    """Makes and opens states with a key that lives as long as the process."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._used: OrderedDict[str, float] = OrderedDict()
        self._not_before = 0.0

    def make(self, method: str, params: Json, answers: Json, owner: str) -> str:
        """Return a state with the answers so far, which is valid only if ``owner`` repeats this
        very request."""
        body = json.dumps(
            {
                "for": _digest(method, params, owner),
                "at": self._clock(),
                "once": secrets.token_hex(8),
                "answers": answers,
            }
        ).encode()
        return f"{_text(body)}.{_text(self._sign(body))}"

    def open(self, state: object, method: str, params: Json, owner: str) -> Json:
        """Return the answers in the state. Raises InvalidParams, always with the same message, for
        a state that is forged, expired, used before, or made for another request or client."""
        answers = self._open(state, method, params, owner)
        if answers is None:
            raise InvalidParams(
                "requestState is not valid for this request, or has been used or expired; send the "
                "request again without it"
            )
        return answers

    def _open(self, state: object, method: str, params: Json, owner: str) -> Json | None:
        if not isinstance(state, str) or not state.isascii():
            return None
        encoded = state.partition(".")[0]
        try:
            body = base64.b64decode(encoded, altchars=b"-_", validate=True)
        except ValueError:
            return None
        # The whole state is compared, as text, so that nothing can be appended unnoticed.
        if not hmac.compare_digest(f"{_text(body)}.{_text(self._sign(body))}", state):
            return None
        value = json.loads(body)
        made, once = value["at"], value["once"]
        if value["for"] != _digest(method, params, owner) or once in self._used:
            return None
        if made <= self._not_before or not -5 <= self._clock() - made <= LIFETIME:
            return None
        self._used[once] = made
        if len(self._used) > MEMORY:
            forgotten = self._used.popitem(last=False)[1]
            self._not_before = max(self._not_before, forgotten)
        answers: Json = value["answers"]
        return answers

    def _sign(self, body: bytes) -> bytes:
        return hmac.digest(self._key, body, "sha256")


def _digest(method: str, params: Json, owner: str) -> str:
    salient = {
        key: value
        for key, value in params.items()
        if key not in ("_meta", "inputResponses", "requestState")
    }
    text = json.dumps([owner, method, salient], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")
