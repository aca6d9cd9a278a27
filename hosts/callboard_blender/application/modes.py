"""Leaves the artist's mode, such as Edit Mode, for Object Mode before a change, and restores it
afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from callboard.errors import HostError
from callboard_blender.application.names import view_layer
from callboard_blender.application.views import in_a_window

_OBJECT = "OBJECT"


@dataclass(frozen=True)
class Mode:
    """Blender's name for a mode, and the active object's full name."""

    mode: str = _OBJECT
    object: str = ""


def current() -> Mode:
    """Return the artist's current mode."""
    active = view_layer().objects.active
    return Mode(active.mode, active.name_full) if active is not None else Mode()


def leave() -> None:
    """Go to Object Mode, which applies pending edits. Raises HostError when Blender refuses."""
    mode = current().mode
    if mode == _OBJECT:
        return
    if not _set(_OBJECT):
        raise HostError(
            f"Blender couldn't leave {mode.replace('_', ' ').title()} Mode; ask the artist to go"
            " back to Object Mode"
        )


def put_back(mode: Mode) -> None:
    """Return to the mode if its object still exists and is visible."""
    if mode.mode == _OBJECT or current() == mode:
        return
    objects = view_layer().objects
    active = next((obj for obj in objects if obj.name_full == mode.object), None)
    if active is not None and active.visible_get():
        objects.active = active
        _set(mode.mode)


def _set(mode: str) -> bool:
    try:
        with in_a_window():
            return bool(bpy.ops.object.mode_set(mode=mode) == {"FINISHED"})
    except RuntimeError:
        return False
