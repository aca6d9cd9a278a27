"""Texts of strangers, as a terminal may take them."""

from __future__ import annotations

import json
import re
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(text: str) -> str:
    """Without the controls that a terminal obeys, beside tabs and the ends of lines, and without
    halves of characters."""
    return _CONTROLS.sub("�", text.replace("\r\n", "\n"))


def plain_json(value: Any) -> str:
    """A JSON value as indented text, with the same characters escaped: it stays what it was."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
