"""The panel in the 3D view's sidebar: the server's state, and the artist's decisions.

Parts that come and go keep their room, and parts of variable length come last, so no button moves
under the pointer.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import bpy

from callboard.panel.status import Snapshot
from callboard_blender.server import residence
from callboard_blender.ui.questions import draw_answer
from callboard_ui import texts
from callboard_ui.shown_text import one_line

#: Characters that fit a line of the sidebar, and lines for a question.
_NARROW, _ASKED = 28, 4
#: Maximum calls that can be cancelled here. Only the number of the others is shown.
_SLOTS = 3
#: The call in each place, while it runs.
_places: list[str] = [""] * _SLOTS


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
        layout.operator("callboard.copy", icon="COPYDOWN")
        window = residence.window
        row = layout.row()
        row.enabled = window is None or not window.opening
        row.operator("callboard.window", icon="WINDOW")
        layout.operator("callboard.end", icon="QUIT")
        column = layout.column(align=True)
        column.label(text=texts.state(shown).text)
        column.label(text=texts.clients(shown), icon="USER")
        draw_question(layout.box(), shown)
        _draw_calls(layout.column(align=True), shown.calls)
        layout.label(text=residence.app.url)
        if window is not None and window.problem:
            draw_text(layout, window.problem, "ERROR")


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


def draw_question(layout: Any, shown: Snapshot) -> None:
    """Draw the first question and the number of others. The yes buttons are only in the pop-up,
    below the details."""
    text, questions = "", shown.questions
    if questions:
        who = texts.title(shown, questions[0].tool) or one_line(questions[0].client)
        text = f"{who} {texts.reason(questions[0])}."
    layout.label(text=texts.waiting(shown), icon="QUESTION" if questions else "NONE")
    draw_text(layout, text, lines=_ASKED)
    row = layout.row(align=True)
    row.enabled = bool(questions)
    row.operator("callboard.details", text="Look")
    if questions:
        draw_answer(row, questions[0], "refuse", "Refuse")
    else:
        row.operator("callboard.answer", text="Refuse")


def draw_text(layout: Any, text: str, icon: str = "NONE", lines: int = 0) -> None:
    """Draw sentences in as many lines as they need, or in exactly ``lines``. An icon is put before
    the first."""
    column = layout.column(align=True)
    parts = textwrap.wrap(text, _NARROW, max_lines=lines or None, placeholder=" …")
    for line in parts + [""] * (lines - len(parts)):
        column.label(text=line, icon=icon)
        icon = icon if icon == "NONE" else "BLANK1"


def _draw_calls(layout: Any, calls: Sequence[Any]) -> None:
    """Draw the running calls. Each keeps its place while it runs, so that another call never gets
    its click."""
    running = {call.id: call for call in calls}
    for place, holder in enumerate(_places):
        if holder not in running:
            free = (one for one in running if one not in _places)
            _places[place] = next(free, "")
    for call_id in _places:
        row = layout.row(align=True)
        call = running.get(call_id)
        row.enabled = call is not None
        row.label(text=_progress(call) if call is not None else "")
        row.operator("callboard.cancel", text="", icon="X").call = call_id
    more = len(running) - sum(one in running for one in _places)
    layout.label(text=f"+{more} more" if more else "")


def _progress(call: Any) -> str:
    text = texts.title(residence.snapshot, call.tool)
    if call.done is not None:
        text += f"  {call.done:g}" + (f"/{call.total:g}" if call.total else "")
    return text
