"""Functions that Blender calls when something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent


class Handlers:
    """The functions that one listener has added. Use it on the main thread. Blender may call the
    functions on a render's thread."""

    def __init__(self) -> None:
        self._added: list[tuple[Any, Callable[..., None]]] = []

    def add(self, name: str, act: Callable[[], None]) -> None:
        """Have Blender call ``act``, also after another file is opened."""

        @persistent  # type: ignore[untyped-decorator]
        def handler(*_: object) -> None:
            act()

        handlers = getattr(bpy.app.handlers, name, None)
        if handlers is not None:  # The handlers for failures exist in Blender 4.0 and later.
            handlers.append(handler)
            self._added.append((handlers, handler))

    def remove(self) -> None:
        """Remove all functions. Idempotent."""
        for handlers, handler in self._added:
            if handler in handlers:
                handlers.remove(handler)
        self._added = []
