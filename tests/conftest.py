"""pytest-qt comes along only where a Qt loads: without one its tests skip and all others run."""

from __future__ import annotations

from importlib import import_module

try:
    import_module("qtpy.QtWidgets")
    import_module("pytestqt.plugin")
except ImportError:
    pass
else:
    pytest_plugins = ["pytestqt.plugin"]
