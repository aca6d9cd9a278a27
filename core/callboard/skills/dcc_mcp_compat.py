"""Stands in for ``dcc_mcp_core`` in the scripts of skills that were written for it.

Only the helpers that make results, and only where the real package isn't installed. The module is
given to those scripts alone; nobody else can import ``dcc_mcp_core`` from here.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from callboard.errors import CallboardError
from callboard.skills.results import error_result, success_result

PACKAGE = "dcc_mcp_core"

#: What ``dcc_mcp_core.skill`` is.
skill = sys.modules[__name__]


def stand_in(name: str) -> ModuleType | None:
    """The module for ``import dcc_mcp_core`` and ``dcc_mcp_core.skill``; None where the import is
    the interpreter's business. Raises ModuleNotFoundError for the package's other modules."""
    if name.partition(".")[0] != PACKAGE or importlib.util.find_spec(PACKAGE) is not None:
        return None
    if name not in (PACKAGE, f"{PACKAGE}.skill"):
        raise ModuleNotFoundError(
            f"No module named '{name}': the package dcc-mcp-core isn't installed, and callboard "
            "stands in only for dcc_mcp_core.skill",
            name=name,
        )
    return skill


def skill_success(
    message: str,
    *,
    prompt: str | None = None,
    postcondition: dict[str, Any] | None = None,
    verified: bool | None = None,
    _meta: dict[str, Any] | None = None,
    **context: Any,
) -> dict[str, Any]:
    if verified is not None:
        postcondition = {**(postcondition or {}), "verified": verified}
    if postcondition is not None:
        context["postcondition"] = postcondition
    return _with_meta(success_result(message, prompt=prompt, **context), _meta)


def skill_warning(
    message: str,
    *,
    warning: str = "",
    prompt: str | None = None,
    _meta: dict[str, Any] | None = None,
    **context: Any,
) -> dict[str, Any]:
    context["warning"] = warning
    return _with_meta(success_result(message, prompt=prompt, **context), _meta)


def skill_error(
    message: str,
    error: str,
    *,
    prompt: str | None = None,
    possible_solutions: Sequence[str] | None = None,
    _meta: dict[str, Any] | None = None,
    **context: Any,
) -> dict[str, Any]:
    result = error_result(
        message,
        error,
        prompt=prompt or "See error and context, mend what they name, and call again.",
        possible_solutions=possible_solutions,
        **context,
    )
    return _with_meta(result, _meta)


def skill_exception(
    exc: BaseException,
    *,
    message: str | None = None,
    prompt: str | None = None,
    include_traceback: bool = True,
    possible_solutions: Sequence[str] | None = None,
    _meta: dict[str, Any] | None = None,
    **context: Any,
) -> dict[str, Any]:
    # Without the traceback, wanted or not: the result reaches the client, paths and all.
    kind = type(exc).__name__
    context.setdefault("error_type", kind)
    return skill_error(
        message or f"{kind}: {exc}",
        kind,
        prompt=prompt,
        possible_solutions=possible_solutions,
        _meta={**(_meta or {}), "dcc.error": {"type": kind, "message": str(exc)}},
        **context,
    )


def skill_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """What the function raises becomes its result; a cancelled call stays one."""

    @functools.wraps(function)
    def entry(**arguments: Any) -> Any:
        try:
            return function(**arguments)
        except CallboardError:
            raise
        except Exception as error:
            return skill_exception(error)

    return entry


def run_main(main: Callable[..., Any], argv: Sequence[str] | None = None) -> None:
    """For ``python script.py``: prints the result. ``argv`` is accepted and not looked at."""
    sys.stdout.write(json.dumps(main(), default=str) + "\n")


def _with_meta(result: dict[str, Any], meta: dict[str, Any] | None) -> dict[str, Any]:
    return {**result, "_meta": dict(meta)} if meta else result
