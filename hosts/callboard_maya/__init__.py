"""Maya as a host. It runs inside Maya, and under ``mayapy``."""

from callboard_qt import choose_binding

choose_binding()
