"""Houdini as a host: inside Houdini, and under ``hython``."""

from callboard_qt.application.binding import choose_binding

choose_binding()
