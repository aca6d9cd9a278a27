"""The undo port. It isn't a capability; a host has it as :attr:`callboard.host.Host.undo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from callboard.changes import Changes


class UndoPort(Protocol):
    """One undo step per call, or per slice of a call that lets the artist work in between. Steps
    never nest."""

    #: True when ``join`` makes one step in the artist's own list. Otherwise each step stays
    #: separate there.
    joins: bool
    #: Reports the ids of steps that were undone (True) or redone (False) by the artist or a script,
    #: not by this port. Nothing is reported if the application doesn't reveal it.
    stepped: Changes[[Sequence[str], bool]]

    def begin(self, label: str) -> object:
        """Start a step. Return its token for ``commit`` or ``rollback``."""

    def commit(self, token: object) -> str | None:
        """End the step. Return the undo id, None when nothing changed, or an empty string for
        changes that can't be undone."""

    def rollback(self, token: object) -> bool:
        """Restore the state at ``begin``. Return False when the host can't."""

    def undo(self, undo_id: str) -> bool:
        """Undo that step and return True if it is the newest one, or else return False."""

    def redo(self, undo_id: str) -> bool:
        """Redo the last undone step and return True if nothing has changed since, or else return
        False."""

    def join(self, undo_ids: Sequence[str]) -> str | None:
        """Join the newest steps, given oldest first, into one; return its id. Return None when
        other steps lie on top of any of them."""
