"""Starts callboard with FreeCAD. FreeCAD runs the InitGui.py in every folder of its ``Mod``."""

from callboard_freecad.plug_in import plug_in

plug_in.load()
