"""The panel in the 3D view's sidebar, with the server's state and the artist's decisions.

Parts that are always there come first, so they never move under the pointer.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import bpy

from callboard.panel.status import Snapshot
from callboard_blender.server import residence
from callboard_blender.ui.calls import draw_calls
from callboard_blender.ui.questions import draw_answer, in_words
from callboard_ui import texts
from callboard_ui.shown_text import one_line

#: Characters that fit on a line of the sidebar, and the maximum number of lines for a question and
#: for the clients' names.
_NARROW, _ASKED, _CLIENTS = 28, 4, 3
#: The icon for each state, by the state's name.
_ICONS = {
    "ended": "CANCEL",
    "off": "CANCEL",
    "stopped": "SNAP_FACE",
    "paused": "PAUSE",
    "asking": "QUESTION",
    "held": "TIME",
    "busy": "TIME",
    "unkept": "ERROR",
    "serving": "CHECKMARK",
}
#: The states in which calls are answered.
_ON = ("serving", "busy", "asking", "held")


class _Tab(bpy.types.Panel):  # type: ignore[misc]
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Callboard"


class CALLBOARD_PT_main(_Tab):
    bl_idname = "CALLBOARD_PT_main"
    bl_label = "Callboard"

    def draw(self, context: Any) -> None:
        layout, shown = self.layout, residence.snapshot
        if residence.app is None:
            layout.operator("callboard.start", icon="PLAY")
            if residence.problem:
                draw_text(layout, residence.problem, "ERROR")
            return
        row = layout.row(align=True)
        row.operator(
            "callboard.pause",
            text="Resume" if shown.paused else "Pause",
            icon="PLAY" if shown.paused else "PAUSE",
        )
        row.operator("callboard.stop", icon="SNAP_FACE")
        # The main thread draws the sidebar, so it can't be stuck now.
        state, window = texts.state(replace(shown, stalled_ms=0)), residence.window
        if shown.switched_off:
            draw_text(layout, shown.switched_off, _ICONS[state.name])
        else:
            layout.label(text=_in_words(state), icon=_ICONS[state.name])
        row = layout.row()
        row.enabled = window is None or not window.opening
        row.operator("callboard.window", icon="WINDOW")
        row = layout.row(align=True)
        row.operator("callboard.copy", icon="COPYDOWN")
        row.operator("callboard.end", icon="QUIT")
        row.operator("callboard.self_test", text="", icon="EXPERIMENTAL")
        draw_text(layout, _connected(shown), "USER", lines=_CLIENTS)
        if shown.questions:
            draw_question(layout.box(), shown)
        draw_calls(layout, shown)
        for problem in (shown.not_kept, window.problem if window is not None else ""):
            if problem:
                draw_text(layout, problem, "ERROR")


class CALLBOARD_PT_roots(_Tab):
    bl_idname = "CALLBOARD_PT_roots"
    bl_label = "Roots"
    bl_parent_id = "CALLBOARD_PT_main"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012 - Blender reads it

    def draw(self, context: Any) -> None:
        shown = residence.snapshot
        row = self.layout.row()
        row.enabled = residence.app is not None
        row.operator("callboard.add_folder", icon="ADD")
        if not shown.roots:
            self.layout.label(text="none: add a folder")
        for root in shown.roots:
            row = self.layout.row(align=True)
            icon = "LOCKED" if root.read_only else "FILE_FOLDER"
            row.label(text=f"{root.name}: {root.path or root.uri}", icon=icon)
            if root.source == "artist":
                row.operator("callboard.remove_folder", text="", icon="X").uri = root.uri
        for client in shown.clients:
            for root in client.roots:
                self.layout.label(text=f"{one_line(client.name)}: {root.path or root.uri}")


class CALLBOARD_PT_capabilities(_Tab):
    bl_idname = "CALLBOARD_PT_capabilities"
    bl_label = "Capabilities"
    bl_parent_id = "CALLBOARD_PT_main"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012 - Blender reads it

    def draw(self, context: Any) -> None:
        for capability in residence.snapshot.capabilities:
            row = self.layout.row()
            row.enabled = capability.offered
            on = capability.offered and not capability.withdrawn
            name = texts.CAPABILITIES.get(capability.name, capability.name)
            count = "1 tool" if capability.unlocks == 1 else f"{capability.unlocks} tools"
            switch = row.operator(
                "callboard.capability",
                text=f"{name}, {count}",
                icon="CHECKBOX_HLT" if on else "CHECKBOX_DEHLT",
                emboss=False,
            )
            switch.name = capability.name


CLASSES = (CALLBOARD_PT_main, CALLBOARD_PT_roots, CALLBOARD_PT_capabilities)


def _in_words(state: texts.State) -> str:
    """Return the state in words, including whether the server is on."""
    if state.name not in _ON:
        return state.text
    idle = state.name == "serving"
    return "On: nothing is running" if idle else f"On: {state.text[:1].lower()}{state.text[1:]}"


def _connected(shown: Snapshot) -> str:
    names = texts.client_names(shown)
    if names:
        return f"Connected: {names}"
    none = "No AI client is connected"
    # Rows with buttons must not move when a client disconnects.
    hint = ". Copy Address, and paste it into a client's settings."
    return none if shown.changes else none + hint


def draw_question(layout: Any, shown: Snapshot) -> None:
    """Draw the first question and the number of others. The yes buttons are only in the pop-up,
    below the details."""
    question = shown.questions[0]
    several = len(shown.questions) > 1
    asks = texts.waiting(shown) if several else f"{one_line(question.client)} asks"
    layout.label(text=asks, icon="QUESTION")
    draw_text(layout, in_words(question), lines=_ASKED)
    row = layout.row(align=True)
    row.operator("callboard.details", text="Review to Allow")
    draw_answer(row, question, "refuse", "Refuse")


def draw_text(layout: Any, text: str, icon: str = "NONE", lines: int = 0) -> None:
    """Draw sentences in as many lines as they need, or in at most ``lines``. An icon is put before
    the first."""
    column = layout.column(align=True)
    for line in textwrap.wrap(text, _NARROW, max_lines=lines or None, placeholder=" …"):
        column.label(text=line, icon=icon)
        icon = icon if icon == "NONE" else "BLANK1"
