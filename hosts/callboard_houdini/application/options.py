"""The artist's preferences, in a separate file next to Houdini's own."""

from __future__ import annotations

import json
from pathlib import Path

import hou

from callboard.host import replacing
from callboard_qt import Options


class HoudiniOptions(Options):
    def read(self, name: str) -> int | None:
        value = _read().get(name)
        return value if isinstance(value, int) else None

    def write(self, name: str, value: int) -> None:
        with replacing(str(_file())) as written:
            text = json.dumps({**_read(), name: value}, indent=1)
            Path(written).write_text(text, encoding="utf-8")


def _read() -> dict[str, object]:
    try:
        options = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return options if isinstance(options, dict) else {}


def _file() -> Path:
    return Path(hou.homeHoudiniDirectory(), "callboard.json")
