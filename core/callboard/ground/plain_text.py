"""Makes untrusted text safe for a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(text: str) -> str:
    """Return the text without unpaired surrogates and without the control characters that affect a
    terminal, except for tabs and line ends."""
    return _CONTROLS.sub("�", text.replace("\r\n", "\n"))


def plain_json(value: Any) -> str:
    """Return a JSON value as indented text, with the same characters escaped, so that its meaning
    stays the same."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
