"""The errors of the REST interface, as problem details (RFC 9457) with callboard's code and
data."""

from __future__ import annotations

import re
from http import HTTPStatus

from callboard.clients.holder import LOCAL, TokenHolder
from callboard.content import Json
from callboard.errors import (
    CallboardError,
    CallCancelled,
    CallTimeout,
    CapabilityMissing,
    HostBusy,
    InvalidParams,
    MethodNotFound,
    NotRecorded,
    Paused,
    PeerError,
    RefusedByArtist,
    ResourceNotFound,
)

PROBLEM_TYPE = "application/problem+json"
#: Seconds after which a client may try again if a host was busy or paused.
RETRY_AFTER = 5

#: The HTTP status of each kind of error. The first match counts.
_STATUSES: tuple[tuple[type[CallboardError], int], ...] = (
    (CapabilityMissing, 403),
    (RefusedByArtist, 403),
    (ResourceNotFound, 404),
    (MethodNotFound, 404),
    (CallCancelled, 409),
    (HostBusy, 503),
    (Paused, 503),
    (NotRecorded, 503),
    (CallTimeout, 504),
    (PeerError, 400),
)


class NotFound(InvalidParams):
    """Raised when the path refers to something that doesn't exist."""


class Unacceptable(PeerError):
    """Raised when the request can't be served as it was sent. ``status`` is the HTTP status that
    describes the problem."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def require_local(holder: TokenHolder, what: str, command: str) -> None:
    """Raise Unacceptable unless the request carries the instance's own token, which no client
    has."""
    if holder != LOCAL:
        raise Unacceptable(
            403,
            f"only this user's own command line may {what}: run `callboard {command}` on this "
            "machine, against a server that requires tokens",
        )


def status_of(error: CallboardError) -> int:
    """Return the HTTP status that corresponds to this kind of error."""
    if isinstance(error, Unacceptable):
        return error.status
    if isinstance(error, NotFound):
        return 404
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def problem(error: CallboardError) -> Json:
    """Return ``{type, title, status, detail, code, data?}``. ``code`` is the JSON-RPC code."""
    status = status_of(error)
    body: Json = {
        "type": f"urn:callboard:problem:{_kebab(type(error).__name__)}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error.message,
        "code": error.code,
    }
    if error.data is not None:
        body["data"] = error.data
    return body


def headers_for(status: int) -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
