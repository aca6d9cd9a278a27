"""``maya.standalone``: Maya without a GUI."""

from __future__ import annotations

from ._session import session


def initialize(name: str = "python") -> None:
    session.reset(batch=True)


def uninitialize() -> None:
    session.reset(batch=True)
