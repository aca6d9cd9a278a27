"""The plug-in file that Maya loads. It runs callboard's server in this Maya, with a menu and a
panel."""

from __future__ import annotations

import maya.api.OpenMaya as om

from callboard import __version__
from callboard_maya.plugin import plug_in


def maya_useNewAPI() -> None:
    """Tell Maya that this plug-in uses API 2.0. Maya looks for this name."""


def initializePlugin(obj: om.MObject) -> None:
    om.MFnPlugin(obj, "callboard", __version__)
    plug_in.load()


def uninitializePlugin(obj: om.MObject) -> None:
    om.MFnPlugin(obj)
    plug_in.unload()
