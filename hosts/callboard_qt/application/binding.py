"""Chooses the Qt binding of the application. A studio or another tool may have put other bindings
on its path, and qtpy would use the first one that it finds."""

from __future__ import annotations

import os
import sys

_BINDINGS = ("PySide6", "PySide2", "PyQt6", "PyQt5")
_ASKED = ("QT_API", "FORCE_QT_API")


def choose_binding() -> None:
    """Have qtpy use the application's own binding, if it has been imported, or else the one that
    CALLBOARD_QT_API names. Call it before anything imports qtpy."""
    running = [name for name in _BINDINGS if _runs(name)]
    chosen = running[0] if running else os.environ.get("CALLBOARD_QT_API")
    if not chosen or "qtpy" in sys.modules:
        return
    before = {name: os.environ.get(name) for name in _ASKED}
    os.environ.update(zip(_ASKED, (chosen.lower(), "1"), strict=True))
    try:
        import qtpy  # noqa: F401
    finally:
        # Other tools also choose their binding with these variables.
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _runs(binding: str) -> bool:
    core = sys.modules.get(f"{binding}.QtCore")
    return core is not None and core.QCoreApplication.instance() is not None
