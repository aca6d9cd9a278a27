"""What Maya tells of itself. Every callback is removed again: one that outlives the plug-in takes
Maya down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import maya.api.OpenMaya as om

log = logging.getLogger(__name__)

#: What Maya is busy with, by the name of its condition.
CONDITIONS = {
    "playingBack": "playing the animation",
    "playblasting": "a playblast",
    "busy": "a command that takes long",
}
#: The same for what begins and ends with a message.
SPANS = (
    (om.MSceneMessage.kBeforeNew, om.MSceneMessage.kAfterNew, "making a new scene"),
    (om.MSceneMessage.kBeforeOpen, om.MSceneMessage.kAfterOpen, "opening a scene"),
    (om.MSceneMessage.kBeforeSave, om.MSceneMessage.kAfterSave, "saving the scene"),
    (
        om.MSceneMessage.kBeforeSoftwareRender,
        om.MSceneMessage.kAfterSoftwareRender,
        "rendering",
    ),
)


class Messages:
    """Callbacks on Maya's main thread. What they raise is logged."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._busy: dict[str, None] = {}
        for condition, words in CONDITIONS.items():
            self._add(om.MConditionMessage.addConditionCallback, condition, self._switch(words))
        for before, after, words in SPANS:
            self.on_scene(before, partial(self._note, words, True))
            self.on_scene(after, partial(self._note, words, False))

    def busy_with(self) -> str | None:
        """What Maya is in the middle of, in the artist's words. Any thread."""
        return next(reversed(tuple(self._busy)), None)

    @contextmanager
    def during(self, words: str) -> Iterator[None]:
        """What we do ourselves, and Maya doesn't tell of."""
        self._note(words, True)
        try:
            yield
        finally:
            self._note(words, False)

    def on_scene(self, message: int, act: Callable[[], None]) -> None:
        """``message`` is one of MSceneMessage's numbers."""
        self._add(om.MSceneMessage.addCallback, message, lambda _data: act())

    def on_event(self, event: str, act: Callable[[], None]) -> None:
        """``event`` is one of MEventMessage's names."""
        self._add(om.MEventMessage.addEventCallback, event, lambda _data: act())

    def on_plugins(self, act: Callable[[], None]) -> None:
        """A plug-in was loaded or unloaded."""
        for message in (om.MSceneMessage.kAfterPluginLoad, om.MSceneMessage.kAfterPluginUnload):
            add = om.MSceneMessage.addStringArrayCallback
            self._add(add, message, lambda _names, _data: act())

    def close(self) -> None:
        """Removes every callback. Idempotent."""
        ids, self._ids = self._ids, []
        for id in ids:
            om.MMessage.removeCallback(id)
        self._busy.clear()

    def _add(self, add: Callable[..., int], what: object, act: Callable[..., None]) -> None:
        def guarded(*arguments: object) -> None:
            try:
                act(*arguments)
            except Exception:
                log.exception("Maya's message %s was not dealt with", what)

        self._ids.append(add(what, guarded))

    def _switch(self, words: str) -> Callable[[bool, object], None]:
        return lambda state, _data: self._note(words, state)

    def _note(self, words: str, begun: bool) -> None:
        # Replaced as a whole, because other threads read it.
        others = {each: None for each in self._busy if each != words}
        self._busy = {**others, words: None} if begun else others
