"""Houdini as a host: inside Houdini, and under ``hython``."""

from callboard_qt import choose_binding

choose_binding()
