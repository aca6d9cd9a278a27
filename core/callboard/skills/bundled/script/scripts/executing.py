"""The tool of the skill ``script``."""

from __future__ import annotations

import json
from typing import Any

from callboard.content import Json

#: Characters of a value's ``repr`` that an answer holds.
REPR_LIMIT = 10_000


def execute(ctx: Any, code: str, language: str = "python") -> Json:
    port = ctx.port("script.execute")
    languages = port.languages()
    wanted = language.lower()
    if wanted not in languages:
        raise ValueError(f"this host runs {', '.join(languages)}, not '{language}'")
    # Asked for so that the server knows: from here on the scene may change.
    ctx.port("scene.mutate")
    return {"language": wanted, "value": _plain(port.execute(code, wanted))}


def _plain(value: object) -> Any:
    try:
        # There and back: a tuple, or a number's subclass, becomes what JSON has for it.
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return repr(value)[:REPR_LIMIT]
