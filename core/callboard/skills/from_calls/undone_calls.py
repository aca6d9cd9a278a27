"""Finds the recorded calls that were undone."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.calls.undo_tools import REDO, UNDO
from callboard.skills.from_calls.steps import RecordedCall


def without_undone(
    calls: Sequence[RecordedCall],
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """Return the calls of one host, oldest first, without undo, redo and undone calls; and the
    undone calls. When results weren't kept, an undo step is matched with the newest changes."""
    #: Numbers of the calls whose changes are in the scene, and of those undone; the newest last.
    done: list[int] = []
    undone: list[int] = []
    for number, call in enumerate(calls):
        if call.tool not in (UNDO, REDO):
            done.append(number)
        elif call.outcome == "ok":
            give, take = (done, undone) if call.tool == UNDO else (undone, done)
            for one in _meant(call, [one for one in give if calls[one].undo_id], calls):
                give.remove(one)
                take.append(one)
    return [calls[one] for one in sorted(done)], [calls[one] for one in sorted(undone)]


def _meant(call: RecordedCall, changes: Sequence[int], calls: Sequence[RecordedCall]) -> list[int]:
    """Return the changes that an undo or redo is about, newest first."""
    result = call.result if isinstance(call.result, dict) else {}
    told = result.get("undone", result.get("redone"))
    if isinstance(told, list):
        ids = [one.get("undo_id") for one in told if isinstance(one, dict)]
        return [one for one in reversed(changes) if calls[one].undo_id in ids]
    steps = call.arguments.get("steps", 1) if isinstance(call.arguments, dict) else 1
    return list(reversed(changes))[: steps if isinstance(steps, int) else 1]
