"""The function that a tool, a prompt or a resource runs, and how to call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from callboard.errors import SkillError

EntryKind = Literal["function", "generator", "coroutine"]
Affinity = Literal["main", "any"]
#: ``complete(argument name, text typed so far) -> values``
Completer = Callable[[str, str], list[str]]


class Entry(NamedTuple):
    """The function that a tool, a prompt or a resource runs.

    ``takes_ctx`` and ``takes_workspace_roots`` are true only for a parameter with exactly that name
    (``ctx``, ``_workspace_roots``). ``kind`` is read from the function itself, but a function
    wrapped by a plain decorator may still return a generator.
    """

    function: Callable[..., Any]
    kind: EntryKind
    takes_ctx: bool
    takes_workspace_roots: bool
    #: True when the function has its own default for ``_workspace_roots``.
    has_own_roots: bool = False

    def roots(self, visible: Any) -> dict[str, Any]:
        """Return the roots argument. If there are no visible roots, the function's own default
        applies."""
        if not self.takes_workspace_roots or (visible is None and self.has_own_roots):
            return {}
        return {"_workspace_roots": visible}


def entry_of(function: Callable[..., Any], name: str, shown: str) -> Entry:
    """Return the entry of ``function``. In messages, the function is called ``name``, and the
    location of its definition is ``shown``. Raises SkillError when it can't be called."""
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
