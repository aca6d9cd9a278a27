"""The artist's preferences, in a file of their own beside Houdini's."""

from __future__ import annotations

import json
from pathlib import Path

import hou

from callboard.hosting.replacing import replacing

#: Whether the server starts with Houdini, 1 or 0, and the port it opens, 0 for any.
AUTOSTART = "autostart"
PORT = "port"


def option(name: str, default: int) -> int:
    """The artist's choice; the default where there is none, or where it can't be read."""
    found = _read().get(name, default)
    return found if isinstance(found, int) else default


def set_option(name: str, value: int) -> None:
    with replacing(str(_file())) as written:
        Path(written).write_text(json.dumps({**_read(), name: value}, indent=1), encoding="utf-8")


def _read() -> dict[str, object]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _file() -> Path:
    return Path(hou.homeHoudiniDirectory(), "callboard.json")
