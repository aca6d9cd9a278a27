"""callboard in Blender: the module that Blender enables and disables.

The same file is the root of the extension, whose wheels Blender installs, and of the add-on for
older versions, which carries everything in ``lib``. The module imports everything else when it is
enabled, and unloads it when it is disabled.
"""

from __future__ import annotations

import atexit
import gc
import sys
import typing
from pathlib import Path
from types import FunctionType, ModuleType

bl_info = {
    "name": "callboard",
    "description": "AI clients call tools in this Blender",
    "author": "The callboard authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Callboard",
    "support": "COMMUNITY",
    "category": "System",
}

_LIB = Path(__file__).parent / "lib"


#: False if another copy is serving: the site's, or the user's own.
_serves = False


def register() -> None:
    global _serves
    other = sys.modules.get("callboard_blender")
    if other is not None:
        print(f"callboard: {Path(__file__).parent} stays idle, because {other.__file__} is serving")
        return
    _serves = True
    if _LIB.is_dir():
        sys.path.insert(0, str(_LIB))
    try:
        from callboard_blender import addon

        addon.register(__package__)
    except BaseException:
        _serves = False
        _forget()
        raise


def unregister() -> None:
    global _serves
    if not _serves:
        return
    _serves = False
    from callboard_blender import addon

    addon.unregister()
    _forget()


def _forget() -> None:
    """Leave Python as it was: remove our modules, and the bundled ones below them."""
    ours = [n for n in sys.modules if _package(n).startswith("callboard") and not _stays(n)]
    for name in ours:
        if name != __name__ and not name.startswith(f"{__name__}."):
            _drop(sys.modules.pop(name))
    # typing's caches keep every class that they were asked about, and with it the class's module.
    for clear in getattr(typing, "_cleanups", ()):
        clear()
    if str(_LIB) in sys.path:
        sys.path.remove(str(_LIB))
    # Qt's objects may be deleted only on this thread, but the collector runs on any thread.
    gc.collect()
    for place in [place for place in sys.path_importer_cache if place.startswith(str(_LIB))]:
        del sys.path_importer_cache[place]


def _stays(name: str) -> bool:
    """Return whether a module must stay loaded. Qt can't be loaded twice, and qtpy has changed Qt's
    classes."""
    return "callboard_vendor.qtpy" in sys.modules and (
        name == "callboard_vendor" or name.startswith("callboard_vendor.qtpy")
    )


def _drop(module: ModuleType) -> None:
    """Unregister a module's exit functions, which would keep the module alive until exit."""
    for value in list(vars(module).values()):
        if isinstance(value, FunctionType):
            atexit.unregister(value)


def _package(name: str) -> str:
    return name.partition(".")[0]
