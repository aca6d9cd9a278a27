"""``maya.utils``: functions for Maya's next idle moment."""

from __future__ import annotations

from ._session import session


def executeDeferred(function, /, *arguments, **named) -> None:
    """Defer a function, from any thread. In batch mode the function never runs, as in Maya."""
    session.deferred.append(lambda: function(*arguments, **named))


def processIdleEvents() -> None:
    session.guard("processIdleEvents")
    while session.deferred and not session.batch:
        session.deferred.pop(0)()
