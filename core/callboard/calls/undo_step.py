"""The single undo step of a call, made of one step for each visit to the main thread.

Between two visits, the artist can use the application. A step that was left open would include the
artist's work, and a rollback would undo that work.
"""

from __future__ import annotations

from callboard.errors import SkillError
from callboard.ports.undo import UndoPort

#: Maximum number of steps that one call may leave in an application that can't join them: 3ds Max
#: keeps 20 in all.
MOST_STEPS = 16


class UndoStep:
    """A call's undo step. It is entered and left on the main thread one or more times, and ended
    once."""

    def __init__(self, port: UndoPort, label: str) -> None:
        self._port = port
        self._label = label
        self._open = False
        self._token: object = None
        #: The steps of visits that weren't rolled back, oldest first. They are joined where the
        #: host can join them.
        self.ids: list[str] = []
        #: True once a visit has made a change that can't be undone, such as opening another scene.
        self._lost = False
        self._steps = 0
        #: The id that undoes the whole call, set once the call has ended.
        self.id: str | None = None
        #: None until the call fails. After that, true if the host could restore everything.
        self.rolled_back: bool | None = None

    def enter(self) -> None:
        """Begin a visit to the main thread."""
        self._token = self._port.begin(self._label)
        self._open = True

    def leave(self) -> None:
        """End a visit that succeeded. Raises SkillError when the call leaves too many steps."""
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
                f"it changes the scene in more than {MOST_STEPS} visits to the main thread, "
                "and this application can't combine them into one undo step, so everything was "
                "rolled back; change more in each visit, or less in one call"
            )

    def end(self, error: BaseException | None) -> None:
        """End the call. If there is an error, restore the scene, except for what someone else has
        changed since."""
        if error is None:
            self.id = self.ids[0] if len(self.ids) == 1 and not self._lost else None
            return
        back = self._port.rollback(self._token) if self._open else True
        while back and self.ids and self._port.undo(self.ids[-1]):
            self.ids.pop()
        self.rolled_back = back and not self._lost and not self.ids
