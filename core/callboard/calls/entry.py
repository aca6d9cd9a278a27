"""What a tool, a prompt or a resource runs, and how it wants to be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from callboard.errors import SkillError

EntryKind = Literal["function", "generator", "coroutine"]
Affinity = Literal["main", "any"]
#: ``complete(argument name, what was typed so far) -> values``
Completer = Callable[[str, str], list[str]]


class Entry(NamedTuple):
    """What a tool runs.

    ``takes_ctx`` and ``takes_workspace_roots`` are true only for a parameter of that very name
    (``ctx``, ``_workspace_roots``). ``kind`` is read from the function itself: one that a plain
    decorator wraps may still return a generator.
    """

    function: Callable[..., Any]
    kind: EntryKind
    takes_ctx: bool
    takes_workspace_roots: bool
    #: Whether it has a default of its own for ``_workspace_roots``.
    has_own_roots: bool = False

    def roots(self, visible: Any) -> dict[str, Any]:
        """What it is handed of the call's roots. Without any, its own default stands."""
        if not self.takes_workspace_roots or (visible is None and self.has_own_roots):
            return {}
        return {"_workspace_roots": visible}


def entry_of(function: Callable[..., Any], name: str, shown: str) -> Entry:
    """How to call ``function``, which ``shown`` defines for tool ``name``. Raises SkillError."""
    if inspect.isasyncgenfunction(function):
        raise SkillError(
            f"'{shown}': {name} is an async generator; make it a generator or a coroutine"
        )
    kind: EntryKind = "function"
    if inspect.isgeneratorfunction(function):
        kind = "generator"
    elif inspect.iscoroutinefunction(function):
        kind = "coroutine"
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise SkillError(f"'{shown}': the signature of {name} can't be read") from None
    return Entry(
        function,
        kind,
        takes_ctx="ctx" in parameters,
        takes_workspace_roots="_workspace_roots" in parameters,
        has_own_roots=_has_default(parameters.get("_workspace_roots")),
    )


def _has_default(parameter: inspect.Parameter | None) -> bool:
    return parameter is not None and parameter.default is not inspect.Parameter.empty
