"""Callboard for Maya: an MCP server in this Maya, with a menu and a panel."""

from __future__ import annotations

import maya.api.OpenMaya as om

from callboard import __version__
from callboard_maya.plugin import plug_in


def maya_useNewAPI() -> None:
    """Maya's: this plug-in is written for API 2.0."""


def initializePlugin(obj: om.MObject) -> None:
    om.MFnPlugin(obj, "callboard", __version__)
    plug_in.load()


def uninitializePlugin(obj: om.MObject) -> None:
    om.MFnPlugin(obj)
    plug_in.unload()
