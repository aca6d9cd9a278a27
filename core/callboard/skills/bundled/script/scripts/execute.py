"""The tool of the ``script`` skill."""

from __future__ import annotations

import json
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument

from ._differences import differences, snapshot

#: Maximum number of characters of a value's ``repr`` in an answer.
REPR_LIMIT = 10_000


def execute(ctx: Any, code: str, language: str = "python", time_limit: float | None = None) -> Json:
    """Run the code. The server ends it after ``time_limit`` seconds."""
    port, reader = ctx.port("script.execute"), ctx.port("scene.read")
    languages = port.languages()
    wanted = language.lower()
    if wanted not in languages:
        raise WrongArgument(f"this host runs {', '.join(languages)}, not '{language}'")
    before = snapshot(reader)
    # Requesting this port notes that the scene may change from here on.
    ctx.port("scene.mutate")
    answer: Json = {"language": wanted, "value": _plain(port.execute(code, wanted))}
    answer.update(differences(before, snapshot(reader)))
    for stream in ("stdout", "stderr"):
        if printed := ctx.printed(stream):
            answer[stream] = printed
    return answer


def _plain(value: object) -> Any:
    try:
        # The round trip turns a tuple, or a number's subclass, into plain JSON.
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:REPR_LIMIT]
