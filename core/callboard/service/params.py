"""What a request's params hold, of the kind that its method needs."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.errors import InvalidParams
from callboard.protocol.peer import PeerRequest


def text_of(request: PeerRequest, key: str) -> str:
    """Raises InvalidParams for what is no text."""
    value = request.params.get(key)
    if not isinstance(value, str):
        raise InvalidParams(f"params.{key} must be a string")
    return value


def arguments_of(request: PeerRequest) -> Json:
    """Empty where there are none. Raises InvalidParams."""
    arguments: Any = request.params.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise InvalidParams("params.arguments must be an object")
    return arguments
