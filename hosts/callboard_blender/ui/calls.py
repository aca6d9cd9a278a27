"""The sidebar's lists of the running calls, and of the changes that the latest calls made, with
buttons to undo them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from time import monotonic
from typing import Any

import bpy

from callboard.panel.status import CallStatus, SceneChange, Snapshot, UndoAnswer, agents_turn
from callboard_blender.server import residence
from callboard_blender.ui.questions import GUARD
from callboard_ui import texts
from callboard_ui.shown_text import clock, one_line

#: Characters that fit on a line of the sidebar, the maximum number of calls and of changes that are
#: shown, and the maximum number of lines for a change.
_NARROW, _CALLS, _CHANGES, _LINES = 28, 3, 4, 2
_ENDS = "X or Stop All ends and undoes it. If the window is frozen, hold Escape for a second."


class _Rows:
    """The rows as last drawn. A click on a row that has just moved is ignored, because it was meant
    for the row that was there before."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._moved = 0.0
        #: The outcome of the artist's last action in this list.
        self.outcome = ""

    def drawn(self, ids: list[str]) -> None:
        if ids != self._ids:
            self._ids, self._moved = ids, monotonic()

    def takes_click(self) -> bool:
        return residence.app is not None and monotonic() - self._moved >= GUARD


_rows = _Rows()


def _answer(outcome: str) -> None:
    """Show the outcome. Call it from any thread."""
    _rows.outcome = outcome
    residence.redraw_soon()


class CALLBOARD_OT_cancel(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.cancel"
    bl_label = "Cancel Call"
    bl_description = "Stop this call and undo its changes"

    call: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        if residence.app is None or not _rows.takes_click():
            return {"CANCELLED"}
        residence.app.controls.cancel(self.call)
        return {"FINISHED"}


class CALLBOARD_OT_undo(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.undo"
    bl_label = "Undo"
    bl_description = "Take back this change and all later ones, as far as only agents made them"

    call: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        if residence.app is None or not _rows.takes_click():
            return {"CANCELLED"}

        def answered(answer: UndoAnswer) -> None:
            _answer(texts.undo_outcome(answer))

        residence.app.controls.changes.undo_back(self.call, answered)
        return {"FINISHED"}


class CALLBOARD_OT_select(bpy.types.Operator):  # type: ignore[misc]
    bl_idname = "callboard.select"
    bl_label = "Select"
    bl_description = "Select the objects that this change made or changed"

    call: bpy.props.StringProperty()  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        if residence.app is None or not _rows.takes_click():
            return {"CANCELLED"}

        def answered(problem: str | None) -> None:
            _answer("Selected" if problem is None else one_line(problem))

        residence.app.controls.changes.select(self.call, answered)
        return {"FINISHED"}


CLASSES = (CALLBOARD_OT_cancel, CALLBOARD_OT_undo, CALLBOARD_OT_select)


def draw_calls(layout: Any, shown: Snapshot) -> None:
    """Draw the running calls, then the last changes, newest first."""
    changes = [one for one in reversed(shown.changes) if one.owner is not None][:_CHANGES]
    asked = [one.id for one in shown.questions]
    running = [one for one in shown.calls if one.state != "asking"]
    _rows.drawn([*asked, *(one.id for one in running), *(one.call for one in changes)])
    if running:
        _draw_running(layout.box(), shown, running)
    if changes:
        _draw_changes(layout.box(), changes, agents_turn(shown.changes))
    else:
        layout.label(text="No changes by clients yet", icon="RECOVER_LAST")


def _draw_running(box: Any, shown: Snapshot, running: Sequence[CallStatus]) -> None:
    column = box.column(align=True)
    for call in running[:_CALLS]:
        row = column.row(align=True)
        row.label(text=texts.title(shown, call.tool), icon="TIME")
        row.operator("callboard.cancel", text="", icon="X").call = call.id
        column.label(text=f"by {one_line(call.client)}{_progress(call)}")
    more = len(running) - _CALLS
    if more > 0:
        column.label(text=f"+{more} more")
    for line in textwrap.wrap(_ENDS, _NARROW):
        column.label(text=line)


def _progress(call: CallStatus) -> str:
    if call.held_by:
        return ", waits for you"
    if call.done is None:
        return f" since {clock(call.started)}"
    return f", {call.done:g}" + (f" of {call.total:g}" if call.total else "")


def _draw_changes(box: Any, changes: Sequence[SceneChange], turn: Sequence[SceneChange]) -> None:
    box.label(text="Last changes by clients", icon="RECOVER_LAST")
    if len(turn) > 1:
        whole = f"Undo the last {len(turn)} changes"
        box.operator("callboard.undo", text=whole).call = turn[0].call
    undoes = 0
    for change in changes:
        column = box.column(align=True)
        words = textwrap.wrap(one_line(change.words), _NARROW, max_lines=_LINES, placeholder=" …")
        for line in words:
            column.label(text=line)
        state = ", undone" if change.undone else ", failed" if change.failed else ""
        who = f"by {one_line(change.client)}, {clock(change.started)}{state}"
        column.label(text=who)
        if not change.undone and (change.undo_id is not None or change.objects):
            undoes += change.undo_id is not None
            undo = "Undo" if undoes < 2 or change.undo_id is None else f"Undo to Here ({undoes})"
            row = column.row(align=True)
            _button(row, "callboard.undo", undo, change, change.undo_id is not None)
            _button(row, "callboard.select", "Select", change, bool(change.objects))
    if _rows.outcome:
        for line in textwrap.wrap(_rows.outcome, _NARROW):
            box.label(text=line)


def _button(row: Any, operator: str, text: str, change: SceneChange, on: bool) -> None:
    part = row.row(align=True)
    part.enabled = on
    part.operator(operator, text=text).call = change.call
