"""The ``script.execute`` port: the agent's own code."""

from __future__ import annotations

from typing import Protocol


class ScriptPort(Protocol):
    """Capability ``script.execute``: the agent's own code, run as the artist would run it."""

    def languages(self) -> list[str]:
        """Return the languages: ``python`` first, then the host's own, such as ``mel``."""

    def execute(self, code: str, language: str) -> object:
        """Run code; return the value of its last expression, or None. Its output goes to
        ``sys.stdout``; its exceptions are raised."""
