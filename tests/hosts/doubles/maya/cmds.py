"""``maya.cmds``: only the commands that are modeled."""

from __future__ import annotations

from typing import Any

from . import (  # noqa: F401
    _assemblies,
    _attribute_commands,
    _connection_commands,
    _dag_commands,
    _documentation,
    _layers,
    _mesh_commands,
    _references,
    _render_commands,
    _session_commands,
    _time_commands,
    _translators,
    _window_commands,
)
from ._registry import COMMANDS
from ._session import session

_OF_PLUGINS = {
    "mayaUSDImport": "mayaUsdPlugin",
    "mayaUSDExport": "mayaUsdPlugin",
    "arnoldRender": "mtoa",
    "AbcExport": "AbcExport",
}


def __dir__() -> list[str]:
    return sorted([*COMMANDS, "__name__"])


def __getattr__(name: str) -> Any:
    plugin = _OF_PLUGINS.get(name)
    if (
        not session.running
        or name not in COMMANDS
        or (plugin is not None and plugin not in session.plugins)
    ):
        raise AttributeError(f"module 'maya.cmds' has no attribute '{name}'")
    return COMMANDS[name]
