"""Errors in a tool's JSON Schema."""

from __future__ import annotations

from callboard.errors import SkillError


class BadSchema(SkillError):
    """A tool's JSON Schema is wrong. The message names the keyword."""


class UnsupportedSchema(BadSchema):
    """A tool's JSON Schema is valid, but uses ``keywords`` that callboard can't check."""

    def __init__(self, keywords: list[str]) -> None:
        super().__init__(
            f"the schema uses {', '.join(keywords)}, which callboard can't check; use other "
            "keywords"
        )
        self.keywords = keywords
