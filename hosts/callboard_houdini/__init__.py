"""Houdini as a host. It runs inside Houdini, and under ``hython``."""

from callboard_qt import choose_binding

choose_binding()
