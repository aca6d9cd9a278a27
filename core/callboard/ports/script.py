"""The port ``script.execute``: the agent's own code."""

from __future__ import annotations

from typing import Protocol


class ScriptPort(Protocol):
    """Capability ``script.execute``: code of the agent's, run as the artist would run it."""

    def languages(self) -> list[str]:
        """``python`` first, then the host's own, such as ``mel``."""

    def execute(self, code: str, language: str) -> object:
        """Runs it; returns the value of its last expression, or None. What it prints goes to
        ``sys.stdout``; what it raises is raised."""
