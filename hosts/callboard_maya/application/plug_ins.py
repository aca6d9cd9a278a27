"""The plug-ins that come with Maya. Each provides a capability while it is loaded."""

from __future__ import annotations

from functools import partial

from maya import cmds

from callboard.errors import HostError
from callboard.host import PlugIn
from callboard_maya.application.names import telling


def is_loaded(plugin: str) -> bool:
    return bool(cmds.pluginInfo(plugin, query=True, loaded=True))


def described(plugin: str) -> PlugIn:
    advice = f"the plug-in {plugin} isn't loaded; it comes with Maya"
    return PlugIn(plugin, advice, partial(_load, plugin))


def _load(plugin: str) -> None:
    with telling(f"load the plug-in {plugin}"):
        cmds.loadPlugin(plugin, quiet=True)
    if not is_loaded(plugin):
        raise HostError(f"Maya did not load {plugin}; see its Script Editor for the reason")
