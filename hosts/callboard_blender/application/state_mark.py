"""Which of our steps a state of Blender's undo stack holds.

Blender tells that a state of its stack is there again, and not which one. So each state says it
itself, in a palette that nobody uses: Blender keeps such data in its undo stack and writes it into
no file, and lists no name that begins with a dot.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

_NAME = ".callboard"
_STEP = "step"


class StateMark:
    """Main thread."""

    def __init__(self) -> None:
        # What an earlier server marked is none of our steps.
        self._own = secrets.token_hex(4)

    @property
    def ready(self) -> bool:
        return _NAME in bpy.data.palettes

    def prepare(self) -> None:
        """Has the palette there: making it is a change that Blender tells of."""
        if not self.ready:
            # With a user, it would be written into files.
            bpy.data.palettes.new(_NAME).use_fake_user = False

    @contextmanager
    def on_top(self, step: int, *, ours: bool) -> Iterator[None]:
        """The state that is saved inside says that ``step`` is the newest of ours in it; ``ours``
        that nothing else came after it."""
        self.prepare()
        palette = bpy.data.palettes[_NAME]
        palette[_STEP] = f"{self._own} {step} {'ours' if ours else ''}"
        try:
            yield
        finally:
            palette[_STEP] = f"{self._own} {step} "

    def read(self) -> tuple[int, bool]:
        """What the state that is there says; from here on somebody may change it."""
        palette: Any = bpy.data.palettes.get(_NAME)
        if palette is None or _STEP not in palette:
            return 0, False
        own, *says = str(palette[_STEP]).split(" ")
        if own != self._own:
            return 0, False
        palette[_STEP] = f"{own} {says[0]} "
        return int(says[0]), says[1] == "ours"
