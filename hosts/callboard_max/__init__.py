"""3ds Max as a host. It runs inside 3ds Max, and under ``3dsmaxbatch``."""

from callboard_qt import choose_binding

choose_binding()
