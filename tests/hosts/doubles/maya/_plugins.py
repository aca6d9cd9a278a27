"""Loading and unloading Python plug-ins, and the Maya plug-ins that the double models."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from . import _lights
from ._session import session
from ._translators import TRANSLATORS

AFTER_LOAD, AFTER_UNLOAD = 41, 43


class FatalError(BaseException):
    """An error that would crash Maya."""


def load(path: str) -> str:
    name = Path(path).stem
    if name in session.plugins:
        return name
    if name in session.not_installed:
        raise RuntimeError(f'Plug-in, "{path}", was not found on MAYA_PLUG_IN_PATH.')
    if name == "mayaUsdPlugin":
        try:
            from . import _usd_commands  # noqa: F401
        except ImportError as error:
            raise RuntimeError(f"Unable to dynamically load : {name}: {error}") from None
        session.plugins[name] = (None, set())
    elif name == "sceneAssembly" or name in TRANSLATORS:
        session.plugins[name] = (None, set())
    elif name == _lights.MTOA:
        session.scene.add("aiAOVDriver", "defaultArnoldDriver")
        for node in session.scene.nodes.values():
            _lights.extend(node)
        session.plugins[name] = (None, set())
    else:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None:
            raise RuntimeError(f'Plug-in, "{path}", was not found on MAYA_PLUG_IN_PATH.')
        session.unloaded = False
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if not hasattr(module, "maya_useNewAPI"):
            raise RuntimeError(f"{name} is written for the old API")
        before = set(session.callbacks)
        module.initializePlugin(_Object(name))
        session.plugins[name] = (module, before)
    session.tell("strings", AFTER_LOAD, [path, name])
    return name


def unload(name: str) -> None:
    module, before = session.plugins.pop(name)
    if module is not None:
        module.uninitializePlugin(_Object(name))
        left = set(session.callbacks) - before
        if left:
            raise FatalError(f"{len(left)} callbacks outlive the plug-in {name}")
        session.unloaded = True
    session.tell("strings", AFTER_UNLOAD, [name])


class _Object:
    """The object that initializePlugin receives."""

    def __init__(self, name: str) -> None:
        self.plugin = name
