"""The panel in the 3D view's sidebar: what the server does, and what the artist decides."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import bpy

from callboard_blender.residence import residence

#: Characters of a line of code or arguments that a pop-up shows, and lines.
_LINE, _LINES = 90, 20
#: Characters that fit into a line of the sidebar.
_NARROW = 28


class CALLBOARD_PT_main(bpy.types.Panel):  # type: ignore[misc]
    bl_idname = "CALLBOARD_PT_main"
    bl_label = "Callboard"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Callboard"

    def draw(self, context: Any) -> None:
        layout, shown = self.layout, residence.snapshot
        if residence.app is None:
            layout.operator("callboard.start", icon="PLAY")
            if residence.problem:
                layout.label(text=residence.problem, icon="ERROR")
            return
        row = layout.row(align=True)
        row.operator(
            "callboard.pause",
            text="Resume" if shown.paused else "Pause",
            icon="PLAY" if shown.paused else "PAUSE",
        )
        row.operator("callboard.stop", icon="SNAP_FACE")
        layout.operator("callboard.copy", icon="COPYDOWN")
        _draw_window(layout)
        state = "paused" if shown.paused else "serving"
        if shown.stalled_ms:
            state = f"waiting for {shown.stalled_by or 'Blender'}, {shown.stalled_ms / 1000:.0f} s"
        address = residence.app.url.removeprefix("http://").removesuffix("/mcp")
        layout.label(text=f"{state}: {address}")
        for client in shown.clients:
            layout.label(text=f"{client.name} {client.version}", icon="USER")
        for question in shown.questions:
            draw_question(layout.box(), question, details=True)
        for call in shown.calls:
            _draw_call(layout, call)


class CALLBOARD_PT_roots(bpy.types.Panel):  # type: ignore[misc]
    bl_idname = "CALLBOARD_PT_roots"
    bl_label = "Workspace Roots"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Callboard"
    bl_parent_id = "CALLBOARD_PT_main"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012 - Blender reads it

    def draw(self, context: Any) -> None:
        shown = residence.snapshot
        roots = [root for client in shown.clients for root in client.roots] or list(shown.roots)
        if not roots:
            self.layout.label(text="none; save the file, or add a folder")
        for root in roots:
            text = f"{root.name}: {root.path or root.uri}"
            self.layout.label(text=text, icon="LOCKED" if root.read_only else "FILE_FOLDER")


class CALLBOARD_PT_capabilities(bpy.types.Panel):  # type: ignore[misc]
    bl_idname = "CALLBOARD_PT_capabilities"
    bl_label = "Capabilities"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Callboard"
    bl_parent_id = "CALLBOARD_PT_main"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012 - Blender reads it

    def draw(self, context: Any) -> None:
        for capability in residence.snapshot.capabilities:
            row = self.layout.row()
            row.enabled = capability.offered
            on = capability.offered and not capability.withdrawn
            switch = row.operator(
                "callboard.capability",
                text=f"{capability.name} ({capability.unlocks})",
                icon="CHECKBOX_HLT" if on else "CHECKBOX_DEHLT",
                emboss=False,
            )
            switch.name = capability.name


def _draw_window(layout: Any) -> None:
    window = residence.window
    row = layout.row()
    row.enabled = window is None or not window.opening
    row.operator("callboard.window", icon="WINDOW")
    if window is not None and window.problem:
        _draw_text(layout, window.problem, "ERROR")


def draw_question(layout: Any, question: Any, *, details: bool = False) -> None:
    layout.label(text=f"{question.client} asks", icon="QUESTION")
    _draw_text(layout, f"{question.tool} {question.why}.")
    allow, rest = layout.row(align=True), layout.row(align=True)
    for row, answer, text in (
        (allow, "allow", "Allow Once"),
        (allow, "allow_session", "For Residence"),
        (rest, "refuse", "Refuse"),
    ):
        operator = row.operator("callboard.answer", text=text)
        operator.question, operator.answer = question.id, answer
    if details:
        rest.operator("callboard.details", text="Show…").question = question.id


def _draw_text(layout: Any, text: str, icon: str = "NONE") -> None:
    """Sentences, in as many lines as they need; an icon stands before the first."""
    column = layout.column(align=True)
    for line in textwrap.wrap(text, _NARROW):
        column.label(text=line, icon=icon)
        icon = icon if icon == "NONE" else "BLANK1"


def _draw_call(layout: Any, call: Any) -> None:
    row = layout.row(align=True)
    text = call.tool
    if call.done is not None:
        text += f"  {call.done:g}" + (f"/{call.total:g}" if call.total else "")
    row.label(text=text, icon="SORTTIME")
    row.operator("callboard.cancel", text="", icon="X").call = call.id


def argument_lines(arguments: Any) -> list[str]:
    """Arguments as short lines; code as it is."""
    if isinstance(arguments, dict) and isinstance(arguments.get("code"), str):
        text = arguments["code"]
    else:
        text = json.dumps(arguments, indent=2, ensure_ascii=False)
    lines = [line[i : i + _LINE] for line in text.splitlines() for i in range(0, len(line), _LINE)]
    if len(lines) > _LINES:
        return [*lines[:_LINES], f"… and {len(lines) - _LINES} lines more"]
    return lines
