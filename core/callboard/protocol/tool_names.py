"""The tool names that every client accepts (2025-11-25, Tools, Tool Names)."""

from __future__ import annotations

import re
from typing import TypeGuard

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def is_tool_name(value: object) -> TypeGuard[str]:
    """Return whether a tool, or anything named by the same rule, may have this name."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None
