"""The ``attributes`` port: any attribute of any object. An attribute's name is its path in Blender,
relative to the object: ``hide_render``, ``data.energy``, ``modifiers["Bevel"].width``,
``pose.bones["Arm"].lock_ik_x``, and ``["mood"]`` or plain ``mood`` for a custom property."""

from __future__ import annotations

import re

from callboard.host import AttributeNotFound, Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked_data
from callboard_blender.application.names import find
from callboard_blender.parts.copies import own_data
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.setting_paths import has_own, place_of, settings_of
from callboard_blender.parts.settings import (
    BlockSettings,
    determined,
    misplaced,
    refusal,
    refuse,
    setting_json,
)

_BARE = re.compile(r'\["([A-Za-z_]\w*)"\]')


class BlenderAttributes:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes
        self._settings = BlockSettings(changes, DataBlocks(changes))

    def names(self, name: str) -> list[str]:
        return [
            bare[1] if (bare := _BARE.fullmatch(path)) else path
            for path, _ in settings_of(find(name))
        ]

    def get(self, name: str, attribute: str) -> Json:
        obj = find(name)
        place = place_of(obj, attribute)
        if place.rna is None and not has_own(place):
            raise AttributeNotFound(obj.name, attribute, self.names(name))
        told = setting_json(place)
        why = determined(place) or misplaced(place)
        return {
            "path": obj.name_full,
            "attribute": attribute,
            "type": told["type"],
            "value": told["value"],
            "writable": place.holder.library is None and refusal(place) is None,
            **told,
            **({"doubt": why} if why else {}),
        }

    def set(self, name: str, attribute: str, value: object) -> str:
        obj = find(name)
        place = place_of(obj, attribute)
        if place.holder != obj:
            refuse_linked_data(obj)
        refuse(place, attribute)
        if place.holder != obj:
            self._changes.touch()
            own_data(obj)
            place = place_of(obj, attribute)
        self._settings.put(place, value, attribute)
        self._settings.update(place.holder)
        return str(obj.name_full)
