"""Marks each state of Blender's undo stack with the newest of our steps that the state contains.

Blender reports that it has switched to a different state, but not which one. So each state
identifies itself in an unused palette. Blender keeps unused data in its undo stack but doesn't
write it into files, and it doesn't list names that begin with a dot.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

#: The palette's name.
NAME = ".callboard"
_STEP = "step"


class StateMark:
    """The marks of one server. Use it on the main thread."""

    def __init__(self) -> None:
        # An earlier server's marks don't refer to our steps.
        self._own = secrets.token_hex(4)

    @property
    def ready(self) -> bool:
        return NAME in bpy.data.palettes

    def prepare(self) -> None:
        """Make the palette. Blender reports that as a change."""
        # A palette with a user would be written into files.
        bpy.data.palettes.new(NAME).use_fake_user = False

    @contextmanager
    def on_top(self, step: int, *, ours: bool) -> Iterator[None]:
        """Mark the state that is saved inside the block: ``step`` is our newest step in that state,
        and ``ours`` is True when nothing else came after that step. The mark must be ready."""
        palette = bpy.data.palettes[NAME]
        palette[_STEP] = f"{self._own} {step} {'ours' if ours else ''}"
        try:
            yield
        finally:
            palette[_STEP] = f"{self._own} {step} "

    def read(self) -> tuple[int, bool]:
        """Return the current state's ``step`` and ``ours``, or 0 and False if there is no mark.
        Sets the mark's ``ours`` to False, because other changes may follow."""
        palette: Any = bpy.data.palettes.get(NAME)
        if palette is None or _STEP not in palette:
            return 0, False
        own, *says = str(palette[_STEP]).split(" ")
        if own != self._own:
            return 0, False
        palette[_STEP] = f"{own} {says[0]} "
        return int(says[0]), says[1] == "ours"
