"""``{{name}}`` and nothing else: what a prompt's template may say.

Whitespace inside the braces is trimmed. Whatever isn't a bare identifier between two pairs of
braces is text. Values are inserted as they are and never looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

#: A third opening brace makes it text: ``{{{name}}}`` is somebody else's syntax.
_PLACEHOLDER = re.compile(r"(?<!\{)\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*\}\}")


def placeholders(template: str) -> list[str]:
    """The names used, each once, in order of appearance."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def fill(template: str, value_of: Callable[[str], str]) -> str:
    """``value_of`` is asked for every placeholder; what it raises is raised here."""
    return _PLACEHOLDER.sub(lambda match: value_of(match[1]), template)


def as_text(value: Any) -> str:
    """Text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
