"""Functions deferred to Houdini's own loop, which doesn't run while a message window is open."""

from __future__ import annotations

from hou._session import session


def executeDeferred(code, *args, **kwargs):
    session.needs_windows("hdefereval")
    session.deferred.append(lambda: code(*args, **kwargs))
