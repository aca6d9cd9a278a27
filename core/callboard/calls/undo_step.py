"""The one undo step of a call, made of one for each visit to the main thread.

Between two visits the artist has the application. A step left open would take in what they do, and
a roll-back would undo it.
"""

from __future__ import annotations

from callboard.errors import SkillError
from callboard.ports.undo import UndoPort

#: Steps that one call may leave in an application that can't join them: 3ds Max keeps 20 in all.
MOST_STEPS = 16


class UndoStep:
    """Entered and left on the main thread, once or often, and ended once."""

    def __init__(self, port: UndoPort, label: str) -> None:
        self._port = port
        self._label = label
        self._open = False
        self._token: object = None
        #: What the visits changed and nobody put back, oldest first; joined where that can be.
        self.ids: list[str] = []
        #: A visit changed what nobody can put back, another scene for instance.
        self._lost = False
        self._steps = 0
        #: What undoes all of the call, once it ended.
        self.id: str | None = None
        #: None while nothing failed; then whether the host could put everything back.
        self.rolled_back: bool | None = None

    def enter(self) -> None:
        """A visit begins."""
        self._token = self._port.begin(self._label)
        self._open = True

    def leave(self) -> None:
        """A visit ended well. Raises SkillError when the artist would have too many steps of it."""
        self._open = False
        id = self._port.commit(self._token)
        if id == "":
            self._lost = True
        elif id is not None:
            self._steps += 1
            joined = self._port.join([*self.ids, id]) if self.ids else id
            self.ids = [*self.ids, id] if joined is None else [joined]
        if self._steps > MOST_STEPS and not self._port.joins:
            raise SkillError(
                f"it changes the scene in more than {MOST_STEPS} visits, and this application "
                "can't make one undo step of them, so all was put back; change more in each visit, "
                "or less in one call"
            )

    def end(self, error: BaseException | None) -> None:
        """The call is over; for an error the scene is put back, as far as nobody else changed it
        since."""
        if error is None:
            self.id = self.ids[0] if len(self.ids) == 1 and not self._lost else None
            return
        back = self._port.rollback(self._token) if self._open else True
        while back and self.ids and self._port.undo(self.ids[-1]):
            self.ids.pop()
        self.rolled_back = back and not self._lost and not self.ids
