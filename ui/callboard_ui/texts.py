"""The texts of both panels: the Qt panel and the one in Blender's sidebar. This module loads
neither Blender nor Qt. ``tr`` is the panel's translation function."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from callboard.host import (
    ANIMATION,
    ATTRIBUTES,
    CAMERAS,
    CHECK,
    DOCS,
    EXCHANGE,
    FARM,
    FILE,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    GEOMETRY,
    LIGHTS,
    LOOK,
    MATERIALS,
    MODELLING,
    NETWORK,
    RENDER,
    SCENE_MUTATE,
    SCENE_READ,
    SCRIPT,
    STRUCTURE,
    USD,
    VIEWPORT,
)
from callboard.panel.status import ClientStatus, QuestionStatus, Snapshot, UndoAnswer
from callboard_ui.shown_text import duration, one_line

#: How long the main thread may be busy before it is reported, in milliseconds.
_STALL = 1000
#: Capabilities by area with their titles, in display order.
AREAS = (
    (
        "Scene",
        {
            SCENE_READ: "Read the scene",
            CHECK: "Check the scene",
            SCENE_MUTATE: "Change the scene",
            STRUCTURE: "Groups and visibility",
            ATTRIBUTES: "Attributes of objects",
            GEOMETRY: "Meshes",
            MODELLING: "Modelling",
            MATERIALS: "Materials",
            LIGHTS: "Lights",
            CAMERAS: "Cameras",
            ANIMATION: "Animation",
            USD: "USD import and export",
        },
    ),
    (
        "Files",
        {
            FILE: "Explain files",
            FILESYSTEM_READ: "Open files",
            FILESYSTEM_WRITE: "Write files",
            EXCHANGE: "Files of other programs",
            NETWORK: "Assets from polyhaven.com",
        },
    ),
    ("Pictures", {VIEWPORT: "See the viewport", LOOK: "Look around the scene", RENDER: "Render"}),
    ("Code", {DOCS: "Look up documentation", SCRIPT: "Run code of its own"}),
    ("Farm", {FARM: "Run tools on the farm"}),
)
CAPABILITIES = {name: title for _, named in AREAS for name, title in named.items()}
_REASONS = {
    "script": "runs code of its own in this application",
    "destructive": "deletes or replaces things",
    "outside_roots": "writes outside the workspace",
}


Translate = Callable[[str], str]


class State(NamedTuple):
    """The server's state: a name, which determines the icon, and a text."""

    name: str
    text: str


def state(shown: Snapshot, tr: Translate = str) -> State:
    """Return the server's state."""
    if not shown.serving:
        return State("ended", tr("The server was stopped") if shown.url else tr("Starting…"))
    if shown.switched_off:
        return State("off", one_line(shown.switched_off))
    if shown.stopped:
        return State("stopped", tr("Stopped, calls ended: {0}").format(shown.stopped))
    if shown.paused:
        return State("paused", tr("Paused"))
    if shown.stalled_ms > _STALL:
        by = one_line(shown.stalled_by or shown.host_name)
        waits = duration(shown.stalled_ms)
        return State("stalled", tr("Waiting for {0}, {1}").format(by, waits))
    if shown.questions:
        return State("asking", tr("Waiting for you"))
    held_by = next((call.held_by for call in shown.calls if call.held_by), None)
    if held_by is not None:
        return State("held", tr("On hold: {0}").format(one_line(held_by)))
    if shown.calls:
        more = len(shown.calls) - 1
        text = tr("Busy with {0}").format(title(shown, shown.calls[0].tool))
        return State("busy", f"{text} +{more}" if more else text)
    if shown.not_kept:
        return State("unkept", tr("Serving, but not everything is kept"))
    return State("serving", tr("Serving"))


def client(one: ClientStatus) -> str:
    """Return a client's name, version and protocol era."""
    return f"{one_line(one.name)} {one_line(one.version)} · {one.era}"


def clients(shown: Snapshot, tr: Translate = str) -> str:
    """Return the connected clients' names."""
    here = shown.clients
    if not here:
        return tr("No client is connected")
    names = client_names(shown)
    return names if len(here) == 1 else tr("{0} clients: {1}").format(len(here), names)


def client_names(shown: Snapshot) -> str:
    return ", ".join(dict.fromkeys(one_line(one.name) for one in shown.clients))


def waiting(shown: Snapshot, tr: Translate = str) -> str:
    """Return a line about the questions that are waiting for the artist."""
    questions = shown.questions
    if not questions:
        return tr("No questions are waiting")
    who = one_line(questions[0].client)
    if len(questions) > 1:
        return tr("{0} questions, first {1}").format(len(questions), who)
    name = questions[0].tool
    if not name:
        return tr("{0} asks to connect from another machine").format(who)
    own = one_line(_own_title(shown, name))
    asks = tr("{0} asks: {1}") if own else tr("{0} asks to call {1}")
    return asks.format(who, own or one_line(name))


def title(shown: Snapshot, tool: str) -> str:
    """Return the title for a tool's wire name."""
    return one_line(_own_title(shown, tool) or tool)


def _own_title(shown: Snapshot, tool: str) -> str:
    """Return the tool's own title, or an empty string."""
    return next((one.title for one in shown.tools if one.name == tool), "")


def undo_outcome(answer: UndoAnswer, tr: Translate = str) -> str:
    """Return a sentence about the outcome of an undo."""
    if answer.problem:
        return tr("Not undone: {0}").format(one_line(answer.problem))
    if not answer.left:
        several = tr("Undone, changes: {0}").format(answer.undone)
        return several if answer.undone > 1 else tr("Undone")
    if answer.undone:
        counts = tr("Undone: {0}. Not undone: {1}, something else changed in between")
        return counts.format(answer.undone, answer.left)
    return tr("Not undone: something else changed since")


def reason(question: QuestionStatus, tr: Translate = str) -> str:
    """Return the reason why the question is asked."""
    if question.tool == "script_on_file__execute":
        # The reason names files, and their names may contain any other reason.
        return one_line(question.why)
    several = [tr(text) for text in _REASONS.values() if text in question.why]
    if len(several) > 1:  # This is a batch call.
        return ", ".join(several)
    known = _REASONS.get(question.subject)
    return one_line(question.why) if known is None else tr(known)
