"""The names that adapters for Qt applications import for the host, plug-in, panel, messages and
undo steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.host import lazy_names

#: Each module and the names taken from it.
_HOMES = {
    "callboard_qt.application.artist_acts": "later",
    "callboard_qt.application.binding": "choose_binding",
    "callboard_qt.application.messages": "Act Messages",
    "callboard_qt.application.names": "family_of only_one translated",
    "callboard_qt.application.options": "Options",
    "callboard_qt.application.undo": "HISTORY OpenStep UndoSteps applied_of",
    "callboard_qt.host": "Dialog Post QtHost no_dialog",
    "callboard_qt.parts.units": "turned_between",
    "callboard_qt.parts.line_of_sight": "LineOfSight between through",
    "callboard_qt.parts.pictures": "seen seen_or_rendered",
    "callboard_qt.plug_in": "QtPlugIn",
    "callboard_qt.ports.animation": "COMPONENTS KeyedAnimation SampledBake",
    "callboard_qt.ports.check": "ApplicationChecks",
    "callboard_qt.ports.exchange": "ApplicationExchange",
    "callboard_qt.ports.files": "openable saveable",
    "callboard_qt.ports.render": "FileRender PICTURES",
}

if TYPE_CHECKING:
    from callboard_qt.application.artist_acts import *
    from callboard_qt.application.binding import *
    from callboard_qt.application.messages import *
    from callboard_qt.application.names import *
    from callboard_qt.application.options import *
    from callboard_qt.application.undo import *
    from callboard_qt.host import *
    from callboard_qt.parts.line_of_sight import *
    from callboard_qt.parts.pictures import *
    from callboard_qt.parts.units import *
    from callboard_qt.plug_in import *
    from callboard_qt.ports.animation import *
    from callboard_qt.ports.check import *
    from callboard_qt.ports.exchange import *
    from callboard_qt.ports.files import *
    from callboard_qt.ports.render import *
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
