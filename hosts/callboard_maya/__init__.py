"""Maya as a host: inside Maya, and under ``mayapy``."""

from callboard_qt.application.binding import choose_binding

choose_binding()
