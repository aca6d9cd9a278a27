"""Finds the operators and widgets that capture a window's events, such as a drag, a menu or a text
field.

Such an operator keeps pointers to the data that it works on, and Blender crashes if the data is
deleted. Since Blender 4.2 Python can see these operators, but never menus or text fields. So this
module reads Blender's own list in memory. Each file that Blender writes describes Blender's
structures, so up to 5.0 nothing is guessed. From 5.1 on, files don't describe the structure that
holds the list. In those versions, this module searches for the list once, without touching
unreadable addresses.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import bpy

from callboard_blender.application.blend_layout import own_structures
from callboard_blender.application.readable_memory import reader

log = logging.getLogger(__name__)

#: Returns the eight bytes at an address, or None when the address isn't readable.
Read = Callable[[int], "int | None"]

#: Kinds of handlers, as in Blender's wm_event_system.h. The fourth kind is for drops. Each window's
#: list always contains a handler of the last kind.
_GIZMO, _UI, _OPERATOR, _, _KEYS = range(1, 6)
#: Offsets in a handler: the next handler, the kind, the pointer to an operator, and the pointer to
#: a pop-up. A pop-up begins with the pointer to its region.
_NEXT, _KIND, _ITS_OPERATOR, _ITS_POPUP = 0, 16, 32, 48
#: Blender's name for the splash screen, and the number of bytes that are searched for it: in a
#: block, or, in later versions, in the undescribed part of a region, which is smaller.
_SPLASH, _OF_BLOCK, _OF_REGION = b"splash\0", 512, 256
#: Number of bytes in a window's undescribed part that are searched for its lists.
_SEARCHED = 256
#: More handlers than any window has.
_MANY = 100


@dataclass(frozen=True)
class ModalHandler:
    """A handler that captures events. ``operator`` is the operator's name, such as
    ``TRANSFORM_OT_translate``, or None for a menu, a pop-up or a text field."""

    operator: str | None


class WindowEvents:
    """The events of all windows. Use it on the main thread, with a user interface."""

    def __init__(self) -> None:
        self._places: _Places | None = None
        self._looked = False

    def takers(self) -> Iterator[ModalHandler]:
        """Yield the handlers that capture events, in all windows. Add-on operators written in
        Python are left out, because many run as long as Blender does and pass events on. The splash
        screen is left out too, because it refers to nothing in the scene, and an unattended agent
        couldn't close it."""
        if not self._looked:
            self._looked = True
            try:
                self._places = _find()
            except Exception:
                log.exception("Blender's lists of event handlers were not found")
        for taker in self._listed():
            if taker.operator is None or not _by_an_addon(taker.operator):
                yield taker

    def _listed(self) -> Iterator[ModalHandler]:
        windows = bpy.context.window_manager.windows
        if self._places is not None:
            # A later version of Blender may store handlers differently, so reading from a wrong
            # address must not crash Blender.
            with reader() as read:
                for window in windows:
                    yield from self._places.takers(window.as_pointer(), read)
            return
        for window in windows:
            for operator in getattr(window, "modal_operators", ()):
                yield ModalHandler(operator.bl_idname)


def _by_an_addon(operator: str) -> bool:
    """Return whether an add-on defines the operator. Blender's own operators have Python instances
    once ``window.modal_operators`` is read, but no Python class."""
    return bpy.types.Operator.bl_rna_get_subclass_py(operator) is not None


@dataclass(frozen=True)
class _Places:
    """Offsets in bytes. ``runtime`` is the offset of a window's pointer to the structure with the
    list, or None when the list is in the window itself. ``blocks`` is the offset of a region's
    pointer to the block that names its pop-up, within ``named`` bytes."""

    runtime: int | None
    handlers: int
    name: int
    blocks: int
    named: int

    def takers(self, window: int, read: Read) -> Iterator[ModalHandler]:
        at: int | None = window
        if self.runtime is not None:
            at = read(window + self.runtime)
        handler = read(at + self.handlers) if at else 0
        for _ in range(_MANY):
            if not handler:
                return
            kind = (read(handler + _KIND) or 0) & 0xFFFFFFFF
            if kind == _UI:
                if not self._is_splash(handler, read):
                    yield ModalHandler(None)
            elif kind == _OPERATOR:
                operator = read(handler + _ITS_OPERATOR)
                yield ModalHandler(_text(operator + self.name, read) if operator else None)
            handler = read(handler + _NEXT)

    def _is_splash(self, handler: int, read: Read) -> bool:
        popup = read(handler + _ITS_POPUP)
        region = read(popup) if popup else None
        blocks = read(region + self.blocks) if region else None
        return bool(blocks) and _SPLASH in _bytes(blocks or 0, self.named, read)


def _text(address: int, read: Read) -> str:
    """Return the text at an address. Blender reserves 64 bytes for an operator's name."""
    return _bytes(address, 64, read).partition(b"\0")[0].decode("utf-8", "replace")


def _bytes(address: int, size: int, read: Read) -> bytes:
    parts = (read(address + at) for at in range(0, size, 8))
    return b"".join((part or 0).to_bytes(8, "little") for part in parts)


def _find() -> _Places | None:
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    structs = {
        each.name: {member.name: member.offset for member in each.members}
        for each in own_structures()
    }
    window, name = structs["wmWindow"], structs["wmOperator"]["idname"]
    # Older versions list the blocks, with the names of their pop-ups, in the region. Later versions
    # store them in the region's undescribed part.
    region = structs["ARegion"]
    listed = region.get("uiblocks")
    blocks, named = (listed, _OF_BLOCK) if listed else (region.get("runtime", 0), _OF_REGION)
    if "modalhandlers" in window:
        return _Places(None, window["modalhandlers"], name, blocks, named)
    runtime = window["runtime"]
    with reader() as read:
        address = read(bpy.context.window_manager.windows[0].as_pointer() + runtime)
        handlers = _search(address, read) if address else None
    if handlers is None:
        log.warning("changes can't wait for menus and text fields in this version of Blender")
        return None
    return _Places(runtime, handlers, name, blocks, named)


def _search(address: int, read: Read) -> int | None:
    """Return the offset of the list of handlers with priority, or None if it isn't found. It is the
    second of two adjacent lists."""
    for offset in range(0, _SEARCHED, 8):
        if _is_list(address + offset, read) and _is_list(address + offset + 16, read):
            return offset + 16
    return None


def _is_list(address: int, read: Read) -> bool:
    """Return whether there is a non-empty list of handlers at the address."""
    first, last = read(address), read(address + 8)
    if not first or not last:
        return False
    handler, before = first, 0
    for _ in range(_MANY):
        following, previous, kind = (read(handler + at) for at in (0, 8, _KIND))
        if kind is None or previous != before or not _GIZMO <= kind & 0xFFFFFFFF <= _KEYS:
            return False
        if not following:
            return handler == last
        handler, before = following, handler
    return False
