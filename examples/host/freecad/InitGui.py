"""Starts callboard with FreeCAD. FreeCAD runs this file of every folder in its ``Mod``."""

from callboard_freecad.plug_in import plug_in

plug_in.load()
