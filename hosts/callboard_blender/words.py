"""What the sidebar says, in the words of the large panel. Loads neither Blender nor Qt."""

from __future__ import annotations

from callboard.hosting.contract import (
    ANIMATION,
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    RENDER,
    SCENE_MUTATE,
    SCENE_READ,
    SCRIPT,
    USD,
    VIEWPORT,
)
from callboard.panel.status import QuestionStatus, Snapshot, living
from callboard_ui.shown_text import duration, one_line

#: Below this, milliseconds, a busy main thread isn't worth a word.
_STALL = 1000
CAPABILITIES = {
    SCENE_READ: "Read the scene",
    SCENE_MUTATE: "Change the scene",
    ANIMATION: "Animation",
    USD: "USD import and export",
    FILESYSTEM_READ: "Open files",
    FILESYSTEM_WRITE: "Write files",
    VIEWPORT: "See the viewport",
    RENDER: "Render",
    SCRIPT: "Run code of its own",
}
_REASONS = {
    "script": "runs code of its own in this application",
    "destructive": "deletes or replaces things",
    "outside_roots": "writes outside the workspace",
}


def state(shown: Snapshot) -> str:
    """What the server does."""
    if not shown.serving:
        return "The server was stopped" if shown.url else "Starting…"
    if shown.stopped:
        return f"Stopped, calls ended: {shown.stopped}"
    if shown.paused:
        return "Paused"
    if shown.stalled_ms > _STALL:
        by = one_line(shown.stalled_by or shown.host_name)
        return f"Waiting for {by}, {duration(shown.stalled_ms)}"
    if shown.questions:
        return "Waiting for you"
    held_by = next((call.held_by for call in shown.calls if call.held_by), None)
    if held_by is not None:
        return f"Waits for you: {one_line(held_by)}"
    if shown.calls:
        more = len(shown.calls) - 1
        return f"Busy with {title(shown, shown.calls[0].tool)}" + (f" +{more}" if more else "")
    return "Serving"


def clients(shown: Snapshot) -> str:
    """Who is connected, and who was lost."""
    everybody = living(shown.clients)
    here = [one for one in everybody if not one.lost]
    lost = ", ".join(dict.fromkeys(one_line(one.name) for one in everybody if one.lost))
    parts = [f"Lost: {lost}"] if lost else []
    if len(here) == 1:
        parts.append(f"{one_line(here[0].name)} {one_line(here[0].version)} · {here[0].era}")
    elif here:
        names = ", ".join(dict.fromkeys(one_line(one.name) for one in here))
        parts.append(f"{len(here)} clients: {names}")
    return " · ".join(parts) or "No client is connected"


def waiting(shown: Snapshot) -> str:
    """Who waits for the artist's word."""
    questions = shown.questions
    if not questions:
        return "Nobody asks for anything"
    who = one_line(questions[0].client)
    if len(questions) > 1:
        return f"{len(questions)} questions, first {who}"
    name = questions[0].tool
    known = title(shown, name)
    return f"{who} asks to call {known}" if known == one_line(name) else f"{who} asks: {known}"


def title(shown: Snapshot, tool: str) -> str:
    """What people read, for a tool's wire name."""
    return one_line(next((one.title for one in shown.tools if one.name == tool), "") or tool)


def reason(question: QuestionStatus) -> str:
    """Why it is asked."""
    return _REASONS.get(question.subject, one_line(question.why))
