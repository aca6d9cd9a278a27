"""pytest-qt comes along only where a Qt loads: without one its tests skip and all others run."""

from __future__ import annotations

import os
from importlib import import_module

from hypothesis import settings

try:
    import_module("qtpy.QtWidgets")
    import_module("pytestqt.plugin")
except ImportError:
    pass
else:
    pytest_plugins = ["pytestqt.plugin"]

# A slow machine is no failure; in CI the same change always meets the same examples.
settings.register_profile("callboard", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("callboard")
