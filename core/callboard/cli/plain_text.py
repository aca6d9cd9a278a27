"""Texts of strangers, as a terminal may take them."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(text: str) -> str:
    """Without the controls that a terminal obeys, beside tabs and the ends of lines, and without
    halves of characters."""
    return _CONTROLS.sub("�", text.replace("\r\n", "\n"))
