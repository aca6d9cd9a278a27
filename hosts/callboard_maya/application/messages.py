"""Listens to Maya's messages. ``close`` removes every callback, because a callback that outlives
the plug-in crashes Maya."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import maya.api.OpenMaya as om

from callboard_qt import Act, Messages

#: The work that keeps Maya busy, in the artist's terms, by the names of Maya's conditions.
CONDITIONS = {
    "playingBack": "playing the animation",
    "playblasting": "a playblast",
    "busy": "a long command",
}
#: Work that begins with one message and ends with another, in the artist's terms.
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


class MayaMessages(Messages):
    def __init__(self) -> None:
        super().__init__("Maya")
        self._ids: list[int] = []
        for condition, words in CONDITIONS.items():
            # Some of these conditions don't exist in batch mode or in every version of Maya.
            with suppress(RuntimeError):
                add = om.MConditionMessage.addConditionCallback
                self._add(add, condition, self._switch(words))
        for before, after, words in SPANS:
            self.on_scene(before, partial(self.note, words, True))
            self.on_scene(after, partial(self.note, words, False))

    def on_scene(self, message: int, act: Act) -> None:
        """Have Maya call ``act`` for a message, given as MSceneMessage's number for it."""
        self._add(om.MSceneMessage.addCallback, message, lambda _data: act())

    def on_event(self, event: str, act: Act) -> None:
        """Have Maya call ``act`` for an event, given as MEventMessage's name for it."""
        self._add(om.MEventMessage.addEventCallback, event, lambda _data: act())

    def on_plugins(self, act: Act) -> None:
        """Have Maya call ``act`` when a plug-in has been loaded or unloaded."""
        for message in (om.MSceneMessage.kAfterPluginLoad, om.MSceneMessage.kAfterPluginUnload):
            add = om.MSceneMessage.addStringArrayCallback
            self._add(add, message, lambda _names, _data: act())

    def close(self) -> None:
        """Remove every callback. Idempotent."""
        ids, self._ids = self._ids, []
        for id in ids:
            om.MMessage.removeCallback(id)
        super().close()

    def _add(self, add: Callable[..., int], what: object, act: Callable[..., None]) -> None:
        self._ids.append(add(what, self.guarded(what, act)))

    def _switch(self, words: str) -> Callable[[bool, object], None]:
        return lambda state, _data: self.note(words, state)
