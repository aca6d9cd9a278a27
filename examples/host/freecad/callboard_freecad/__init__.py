"""callboard in FreeCAD, as an example of a host in a Qt application. docs/host.md describes it."""

import sys
from pathlib import Path

# The folder into which `pip install --target` puts callboard.
sys.path.append(str(Path(__file__).parents[1] / "packages"))

# FreeCAD has its own Qt. This line must run before anything imports qtpy.
from callboard_qt import choose_binding

choose_binding()
