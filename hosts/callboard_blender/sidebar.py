"""The panel in the 3D view's sidebar: what the server does, and what the artist decides."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import bpy

from callboard_blender.residence import residence

#: Characters of a line of code or arguments that a pop-up shows, and lines.
_LINE, _LINES = 90, 20
#: Characters that fit into a line of the sidebar.
_NARROW = 28
#: The page of each question that shows, and the questions whose last page was shown.
_pages: dict[str, int] = {}
_read: set[str] = set()


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
        if shown.questions:
            # One at a time: what lies below the window can't be answered.
            draw_question(layout.box(), shown.questions)
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


def draw_waiting(header: Any, context: Any) -> None:
    """In the 3D view's header, where it shows with the sidebar closed."""
    questions = residence.snapshot.questions
    if questions:
        text = f"{questions[0].client} asks" + (
            f" ({len(questions)})" if len(questions) > 1 else ""
        )
        header.layout.operator("callboard.details", text=text, icon="QUESTION")


def draw_question(layout: Any, questions: Sequence[Any]) -> None:
    """The oldest question, and how many more there are. A yes is in the pop-up, below what it is
    about."""
    question = questions[0]
    more = f" (1 of {len(questions)})" if len(questions) > 1 else ""
    layout.label(text=f"{question.client} asks{more}", icon="QUESTION")
    _draw_text(layout, f"{title_of(question.tool)} {question.why}.")
    row = layout.row(align=True)
    row.operator("callboard.details", text="Look…")
    _answer(row, question, "refuse", "Refuse")


def draw_details(layout: Any, question: Any) -> None:
    """One question with all of its arguments, a page at a time; a yes is taken once the last page
    was shown."""
    lines = argument_lines(question.arguments)
    last = max(0, (len(lines) - 1) // _LINES)
    page = min(_pages.get(question.id, 0), last)
    if page == last:
        _read.add(question.id)
    layout.label(text=f"{question.client} asks", icon="QUESTION")
    layout.label(text=f"{title_of(question.tool)} ({question.tool}) {question.why}.")
    column = layout.column(align=True)
    shown = lines[page * _LINES : (page + 1) * _LINES]
    # As high on every page: no button moves under the pointer.
    for line in shown + [""] * (_LINES - len(shown) if last else 0):
        column.label(text=line)
    if last:
        left = sum(map(len, lines[(page + 1) * _LINES :]))
        row = layout.row(align=True)
        row.label(text=f"… {left:,} more characters" if left else "This is the end")
        for step, text in ((-1, "Back"), (1, "Next")):
            turn = row.operator("callboard.page", text=text)
            turn.question, turn.page = question.id, min(max(page + step, 0), last)
    row = layout.row(align=True)
    _answer(row, question, "refuse", "Refuse")
    yes = row.row(align=True)
    yes.enabled = question.id in _read
    _answer(yes, question, "allow", "Allow Once")
    _answer(yes, question, "allow_session", "For Session")


def turn_page(question: str, page: int) -> None:
    """Shows another page of what a question is about."""
    _pages[question] = page


def title_of(tool: str) -> str:
    """What people read, for a tool's wire name."""
    return next((one.title for one in residence.snapshot.tools if one.name == tool), "") or tool


def _answer(row: Any, question: Any, answer: str, text: str) -> None:
    operator = row.operator("callboard.answer", text=text)
    operator.question, operator.answer = question.id, answer


def _draw_text(layout: Any, text: str, icon: str = "NONE") -> None:
    """Sentences, in as many lines as they need; an icon stands before the first."""
    column = layout.column(align=True)
    for line in textwrap.wrap(text, _NARROW):
        column.label(text=line, icon=icon)
        icon = icon if icon == "NONE" else "BLANK1"


def _draw_call(layout: Any, call: Any) -> None:
    row = layout.row(align=True)
    text = title_of(call.tool)
    if call.done is not None:
        text += f"  {call.done:g}" + (f"/{call.total:g}" if call.total else "")
    row.label(text=text, icon="SORTTIME")
    row.operator("callboard.cancel", text="", icon="X").call = call.id


def argument_lines(arguments: Any) -> list[str]:
    """All arguments as short lines; code last, and as it is but for what can't be seen."""
    others, code = arguments, None
    if isinstance(arguments, dict) and isinstance(arguments.get("code"), str):
        others = {name: value for name, value in arguments.items() if name != "code"}
        code = arguments["code"]
    text = json.dumps(others, indent=2, ensure_ascii=False) if others or code is None else ""
    if code is not None:
        text += ("\n\ncode:\n" if text else "") + code
    return [
        line[i : i + _LINE]
        for line in _visible(text).splitlines()
        for i in range(0, max(1, len(line)), _LINE)
    ]


def _visible(text: str) -> str:
    return "".join(
        c if c in "\n\t" or unicodedata.category(c)[0] != "C" else repr(c)[1:-1] for c in text
    )
