"""Stands in for ``dcc_mcp_core`` in the scripts of skills that were written for it.

It has the helpers that make results, and those that check whether the call was cancelled. It is
used only if the real package isn't installed, and only by such scripts. No other code can import
``dcc_mcp_core`` from here.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from callboard.calls.entry import Entry
from callboard.errors import CallboardError, CallCancelled
from callboard.skills.results import error_result, success_result

PACKAGE = "dcc_mcp_core"
#: The modules that this one replaces.
MODULES = (PACKAGE, f"{PACKAGE}.skill", f"{PACKAGE}.cancellation")

#: The modules ``dcc_mcp_core.skill`` and ``dcc_mcp_core.cancellation``.
skill = cancellation = sys.modules[__name__]
#: The exception that ``check_cancelled`` raises.
DccMcpCancelledError = CancelledError = CallCancelled


def stand_in(name: str) -> ModuleType | None:
    """Return the module for ``import dcc_mcp_core`` and those of ``MODULES``, or None if the
    interpreter should handle the import. Raises ModuleNotFoundError for the package's other
    modules."""
    if name.partition(".")[0] != PACKAGE or importlib.util.find_spec(PACKAGE) is not None:
        return None
    if name not in MODULES:
        raise ModuleNotFoundError(
            f"No module named '{name}': the package dcc-mcp-core isn't installed, and callboard "
            "stands in only for dcc_mcp_core.skill and dcc_mcp_core.cancellation",
            name=name,
        )
    return skill


class Probe:
    """Tells scripts written for ``dcc_mcp_core`` whether their call was cancelled. ``ctx`` is the
    tool's context."""

    job_id = None

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    @property
    def cancelled(self) -> bool:
        return bool(self._ctx.cancelled)

    def check(self) -> None:
        """Raise CallCancelled when the call was cancelled."""
        if self.cancelled:
            raise CallCancelled("the call was cancelled")


_probe: ContextVar[Probe | None] = ContextVar("probe", default=None)


def current_cancel_token() -> Probe | None:
    return _probe.get()


def check_cancelled() -> None:
    probe = _probe.get()
    if probe is not None:
        probe.check()


check_dcc_cancelled = check_cancelled


def cancelling(entry: Entry) -> Entry:
    """Return the entry with its function wrapped, so that it can check whether its call was
    cancelled: through this module, or through the real package if a script has loaded that."""
    if entry.kind != "function":
        return entry
    function, takes_ctx = entry.function, entry.takes_ctx

    @functools.wraps(function)
    def run(*, ctx: Any = None, **arguments: Any) -> Any:
        if takes_ctx:
            arguments["ctx"] = ctx
        if ctx is None:
            return function(**arguments)
        real = sys.modules.get(f"{PACKAGE}.cancellation")
        probe = Probe(ctx)
        ours = _probe.set(probe)
        theirs = real.set_cancel_token(probe) if real is not None else None
        try:
            return function(**arguments)
        finally:
            _probe.reset(ours)
            if real is not None:
                real.reset_cancel_token(theirs)

    return entry._replace(function=run, takes_ctx=True)


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
        prompt=prompt or "See error and context, fix what they name, and call again.",
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
    # The traceback is always left out, because its paths would reach the client.
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
    """Turn what the function raises into its result. A cancelled call stays cancelled."""

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
    """Print the result, for ``python script.py``. ``argv`` is accepted and ignored."""
    sys.stdout.write(json.dumps(main(), default=str) + "\n")


def _with_meta(result: dict[str, Any], meta: dict[str, Any] | None) -> dict[str, Any]:
    return {**result, "_meta": dict(meta)} if meta else result
