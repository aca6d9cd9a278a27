"""callboard in Blender: the module that Blender enables and disables.

The same file is the root of the extension, whose wheels Blender installs, and of the add-on for
older versions, which carries everything in ``lib``. It imports the rest when it is enabled and
forgets it when it is disabled.
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
#: Packages of others that come with ours; filled in when the archive is built.
_BUNDLED: tuple[str, ...] = ()

_found: set[str] = set()


def register() -> None:
    _found.update(sys.modules)
    if _LIB.is_dir():
        sys.path.insert(0, str(_LIB))
    try:
        from callboard_blender import addon

        addon.register(__package__)
    except BaseException:
        _forget()
        raise


def unregister() -> None:
    from callboard_blender import addon

    addon.unregister()
    _forget()


def _forget() -> None:
    """Leaves Python as it was: our modules go, and those that came with us unless somebody else
    has begun to use them."""
    ours = [n for n in sys.modules if _package(n).startswith("callboard") and not _stays(n)]
    for name in ours:
        if name != __name__ and not name.startswith(f"{__name__}."):
            _drop(sys.modules.pop(name))
    came = {name for name in sys.modules if name not in _found and _package(name) in _BUNDLED}
    others = [module for name, module in sys.modules.items() if _package(name) not in _BUNDLED]
    for package in {_package(name) for name in came}:
        if not any(_uses(module, package) for module in others):
            for name in came:
                if _package(name) == package:
                    _drop(sys.modules.pop(name))
    # What typing remembers keeps every class it was ever asked about, and with it the modules.
    for clear in getattr(typing, "_cleanups", ()):
        clear()
    _found.clear()
    if str(_LIB) in sys.path:
        sys.path.remove(str(_LIB))
    # Qt's objects may be deleted on this thread only; the collector runs on any.
    gc.collect()
    for place in [place for place in sys.path_importer_cache if place.startswith(str(_LIB))]:
        del sys.path_importer_cache[place]


def _stays(name: str) -> bool:
    """Once loaded, qtpy has changed Qt's classes, and Qt can't be loaded anew."""
    return "callboard_vendor.qtpy" in sys.modules and (
        name == "callboard_vendor"
        or name.startswith(("callboard_vendor.qtpy", "callboard_vendor.packaging"))
    )


def _drop(module: ModuleType) -> None:
    """What a module has Python call at its exit keeps the module alive until then."""
    for value in list(vars(module).values()):
        if isinstance(value, FunctionType):
            atexit.unregister(value)


def _package(name: str) -> str:
    return name.partition(".")[0]


def _uses(module: object, package: str) -> bool:
    """Whether the module holds something of ``package``. Looks at plain modules, functions and
    classes only: anything else may do who knows what when it is looked at."""
    if not isinstance(module, ModuleType):
        return False
    for value in list(vars(module).values()):
        if isinstance(value, ModuleType):
            name = vars(value).get("__name__")
        elif isinstance(value, (FunctionType, type)):
            name = value.__module__
        else:
            continue
        if isinstance(name, str) and _package(name) == package:
            return True
    return False
