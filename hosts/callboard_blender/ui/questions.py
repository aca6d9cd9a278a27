"""Shows a client's questions to the artist, with a mark that is visible even if the sidebar is
closed, and a pop-up for the answer."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any

import blf
import bpy

from callboard_blender.application.main_thread import window_is_gone
from callboard_blender.server import drawn, heading, residence
from callboard_ui import texts
from callboard_ui.shown_text import arguments_text, one_line

#: Seconds during which a new pop-up doesn't accept a yes, because the click may have been meant for
#: something else.
GUARD = 0.5
#: Lines of the pop-up besides the arguments, and the minimum and maximum number of argument lines.
_OTHERS, _LEAST, _MOST = 9, 3, 20
#: Maximum width of the pop-up, its margins, and the height of a line, in pixels at scale 1.
_WIDE, _MARGINS, _LINE = 600, 60, 20


@dataclass(frozen=True)
class _Size:
    """The size of a pop-up when it opened. ``width`` is in pixels at scale 1."""

    width: int = _WIDE
    lines: int = _MOST


@dataclass
class _Popup:
    """The pop-up on the screen. Its text is considered read once its last page has been shown."""

    question: str = ""
    page: int = 0
    size: _Size = _Size()
    opened: float = 0.0
    #: The address of the window in which the pop-up opened, or 0 if callboard has closed the
    #: pop-up.
    window: int = 0


_popup = _Popup()
_read: set[str] = set()


class CALLBOARD_OT_answer(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.answer"
    bl_label = "Answer"
    bl_description = "Answer a client's question"

    question: bpy.props.StringProperty()  # type: ignore[valid-type]
    answer: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        yes = self.answer != "refuse"
        soon = monotonic() - _popup.opened < GUARD
        if residence.app is None or (yes and (soon or self.question not in _read)):
            return {"CANCELLED"}
        residence.app.controls.answer(self.question, self.answer)
        return {"FINISHED"}


class CALLBOARD_OT_details(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.details"
    bl_label = "A Client's Question"
    bl_description = "Show the question with all arguments, and answer it"

    question: bpy.props.StringProperty()  # type: ignore[valid-type]

    def invoke(self, context: Any, event: Any) -> set[str]:
        # Use the question that is the oldest now, because a second click must not answer the next
        # question.
        self.question = next((one.id for one in residence.snapshot.questions), "")
        scale = context.preferences.system.ui_scale
        size = fitting(context.window.width / scale, context.window.height / scale)
        show(self.question, size)
        _popup.window = context.window.as_pointer()
        manager = context.window_manager
        result: set[str] = manager.invoke_popup(self, width=size.width)
        return result

    def execute(self, context: Any) -> set[str]:
        return {"FINISHED"}

    def draw(self, context: Any) -> None:
        for question in residence.snapshot.questions:
            if question.id == self.question:
                draw_details(self.layout, question)
                return
        self.layout.label(text="This question is no longer open")


class CALLBOARD_OT_page(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.page"
    bl_label = "Page"
    bl_description = "Show another part of the question"

    page: bpy.props.IntProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        _popup.page = self.page
        return {"FINISHED"}


CLASSES = (CALLBOARD_OT_answer, CALLBOARD_OT_details, CALLBOARD_OT_page)


def fitting(width: float, height: float) -> _Size:
    """Return the largest pop-up that fits a window of this size, in pixels at scale 1."""
    lines = int(height / _LINE) - _OTHERS
    return _Size(min(_WIDE, int(width) - _MARGINS), min(max(lines, _LEAST), _MOST))


def show(question: str, size: _Size) -> None:
    """Start a pop-up that shows the question's first page."""
    _popup.question, _popup.page, _popup.size = question, 0, size
    _popup.opened = monotonic()


def close_ended() -> None:
    """Close the pop-up if its question has ended, because its buttons would do nothing."""
    asked = {one.id for one in residence.snapshot.questions}
    if not _popup.window or _popup.question in asked or window_is_gone():
        return
    for window in bpy.context.window_manager.windows:
        if window.as_pointer() == _popup.window and residence.is_held_by_popup():
            window.screen = window.screen  # This closes the window's pop-ups.
    _popup.window = 0


residence.on_show = close_ended


def draw_mark(header: Any, context: Any) -> None:
    """Draw the mark at the start of the 3D view's header, where it is visible even if the sidebar
    is closed. The mark is always there, so nothing next to it moves when a question arrives."""
    drawn.add(heading())
    row = header.layout.row()
    row.alert = bool(residence.snapshot.questions)
    if row.alert:
        row.operator("callboard.details", text="", icon="QUESTION")
    else:
        # A label is as wide as the button. A disabled button would be dim, as if switched off.
        row.label(text="", icon="UNLINKED" if residence.app is None else "LINKED")


def draw_line(header: Any, context: Any) -> None:
    """Draw the line at the end of the status bar, which shows in every workspace."""
    line, _ = shown = heading()
    drawn.add(shown)
    if residence.snapshot.questions:
        row = header.layout.row()
        row.alert = True
        row.operator("callboard.details", text=line, icon="QUESTION")


def draw_details(layout: Any, question: Any) -> None:
    """Draw one question with all of its arguments, a page at a time. A yes is accepted once the
    last page has been shown."""
    size = _popup.size
    lines = argument_lines(question.arguments, size.width)
    last = max(0, (len(lines) - 1) // size.lines)
    page = min(_popup.page, last) if question.id == _popup.question else 0
    if page == last:
        _read.add(question.id)
    layout.label(text=f"{one_line(question.client)} asks", icon="QUESTION")
    column = layout.column(align=True)
    called = one_line(question.client)
    if question.tool:
        called = f"{texts.title(residence.snapshot, question.tool)} ({one_line(question.tool)})"
    for line in _wrapped(f"{called} {texts.reason(question)}.", size.width):
        column.label(text=line)
    column = layout.column(align=True)
    shown = lines[page * size.lines : (page + 1) * size.lines]
    # Pages have the same height, so no button moves under the pointer.
    for line in shown + [""] * (size.lines - len(shown) if last else 0):
        column.label(text=line)
    if last:
        left = sum(map(len, lines[(page + 1) * size.lines :]))
        row = layout.row(align=True)
        row.label(text=f"… {left:,} more characters" if left else "This is the end")
        for step, text in ((-1, "Back"), (1, "Next")):
            turn = row.operator("callboard.page", text=text)
            turn.page = min(max(page + step, 0), last)
    row = layout.row(align=True)
    draw_answer(row, question, "refuse", "Refuse")
    yes = row.row(align=True)
    yes.enabled = question.id in _read
    draw_answer(yes, question, "allow", "Allow once" if question.tool else "Approve")
    if "allow_session" in question.choices:
        draw_answer(yes, question, "allow_session", "For session")


def in_words(question: Any) -> str:
    """Return the question and its reason."""
    if not question.tool:
        return f"{one_line(question.client)} {texts.reason(question)}."
    title = texts.title(residence.snapshot, question.tool)
    return f'May it use "{title}"? This {texts.reason(question)}.'


def draw_answer(row: Any, question: Any, answer: str, text: str) -> None:
    operator = row.operator("callboard.answer", text=text)
    operator.question, operator.answer = question.id, answer


def argument_lines(arguments: Any, width: int = _WIDE) -> list[str]:
    """Return all arguments in lines that fit ``width``, in pixels at scale 1, because Blender
    leaves out the middle of longer lines. Code comes last."""
    return [
        part
        for line in arguments_text(arguments).expandtabs(4).splitlines()
        for part in _fitted(line, width)
    ]


def _wrapped(text: str, width: int) -> list[str]:
    """Return sentences in as many lines as they need."""
    few = max(1, int(width / _width("n")))
    return [part for line in textwrap.wrap(text, few) for part in _fitted(line, width)]


def _fitted(line: str, width: int) -> list[str]:
    parts, taken = [""], 0.0
    for character in line:
        taken += _width(character)
        if taken > width - _MARGINS / 2 and parts[-1]:
            parts.append("")
            taken = _width(character)
        parts[-1] += character
    return parts


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    """Return the text's width in the interface's font, in pixels at scale 1."""
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    return float(blf.dimensions(0, character * 8)[0]) / 8 or 4.0
