"""The undo port: it is no capability, and stands at :attr:`callboard.host.Host.undo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from callboard.changes import Changes


class UndoPort(Protocol):
    """One undo step per call, or per visit of a call that lets the artist go on in between. Steps
    never nest."""

    #: True where ``join`` makes one step of the artist's own list; else each stays one there.
    joins: bool
    #: Reports the ids of steps that somebody undid (True) or did again (False) without callboard:
    #: the artist with Ctrl+Z, a script. Only where the application lets that be known.
    stepped: Changes[[Sequence[str], bool]]

    def begin(self, label: str) -> object:
        """Starts a step; the token goes to ``commit`` or ``rollback``."""

    def commit(self, token: object) -> str | None:
        """Ends it. The undo id; None when nothing changed, empty for what can't be undone."""

    def rollback(self, token: object) -> bool:
        """Puts back what was there at ``begin``. False where the host can't."""

    def undo(self, undo_id: str) -> bool:
        """Undoes that step if it is the newest one; else False."""

    def redo(self, undo_id: str) -> bool:
        """Does the step again that was undone last, if nothing was changed since; else False."""

    def join(self, undo_ids: Sequence[str]) -> str | None:
        """Makes one of the newest steps, oldest first; its id. None where others lie on any."""
