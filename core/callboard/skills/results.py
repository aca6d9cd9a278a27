"""The result that skills return. It has the same shape for success and failure.

``{success, message, error, prompt, context}``: ``message`` is for people. ``error`` is a short
stable word for programs (None on success). ``prompt`` says what to do next. ``context`` has the
data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def success_result(message: str, *, prompt: str | None = None, **context: Any) -> dict[str, Any]:
    return {
        "success": True,
        "message": message,
        "error": None,
        "prompt": prompt,
        "context": context,
    }


def error_result(
    message: str,
    error: str,
    *,
    prompt: str | None = None,
    possible_solutions: Sequence[str] | None = None,
    **context: Any,
) -> dict[str, Any]:
    if possible_solutions:
        context.setdefault("possible_solutions", list(possible_solutions))
    return {
        "success": False,
        "message": message,
        "error": error,
        "prompt": prompt,
        "context": context,
    }
