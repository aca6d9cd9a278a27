"""Makes the files of a skill that repeats a recorded run on any host with the capabilities that it
needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from callboard.calls.undo_tools import REDO, UNDO
from callboard.errors import SkillError
from callboard.skills.from_calls.files import Draft
from callboard.skills.from_calls.inputs import ABSOLUTE, Inputs
from callboard.skills.from_calls.links import last_part, link
from callboard.skills.from_calls.steps import Made, RecordedCall, known_tools, steps_of
from callboard.skills.model import SkillMetadata
from callboard.skills.skill_files import MAX_TEXT_BYTES

_ESCAPED = re.compile(r"\\(.)")
_PLAIN = {"\\": "\\", '"': '"', "'": "'", "/": "/"}
_MAX_REQUESTS = 12
_MAX_REQUEST = 400


@dataclass(frozen=True)
class NewSkill:
    """The new skill. ``left_out`` are sentences, each about calls that aren't in it."""

    draft: Draft
    files: dict[str, str]
    left_out: Sequence[str]


def make_skill(
    name: str,
    calls: Sequence[RecordedCall],
    skills: Iterable[SkillMetadata],
    redact: Callable[[str], str],
) -> NewSkill:
    """Make a skill from the calls of one run, oldest first. ``redact`` removes secrets from a text.
    Reads and writes nothing. Raises SkillError when no skill can be made."""
    calls, undone = without_undone(calls)
    steps, left_out = steps_of(calls, known_tools(skills))
    left_out += dict.fromkeys(f"{call.tool}: it was undone" for call in undone)
    inputs = Inputs(steps, lambda text: redact(text) == text)
    link(steps)
    steps, idle = _needed(steps)
    left_out += idle
    if not steps:
        why = "; ".join(left_out) or "none of them succeeded"
        raise SkillError(f"no skill can be made from these calls: {why}")
    inputs.find(steps)
    draft = Draft(name, steps, inputs.all, _requests(calls, redact))
    files = draft.files()
    for path, text in files.items():
        if len(text.encode()) > MAX_TEXT_BYTES:
            raise SkillError(f"{path} would be larger than {MAX_TEXT_BYTES} bytes; use fewer calls")
        for line in text.splitlines():
            if redact(line) != line or _names_a_place(line):
                raise SkillError(
                    f"{path} would hold a secret or an absolute path; choose fewer calls. The line "
                    f"begins with '{line.strip()[:24]}'"
                )
    return NewSkill(draft, files, left_out)


def _needed(steps: list[Made]) -> tuple[list[Made], list[str]]:
    """Drop read-only calls whose results aren't used, unless all calls are read-only."""
    if all(step.only_reads for step in steps):
        return steps, []
    kept: list[Made] = []
    used: set[str] = set()
    for step in reversed(steps):
        if not step.only_reads or step.id in used:
            kept.insert(0, step)
            used |= step.uses
    idle = dict.fromkeys(step.wire for step in steps if step not in kept)
    return kept, [f"{wire}: it only reads, and no later call uses its result" for wire in idle]


def _requests(calls: Sequence[RecordedCall], redact: Callable[[str], str]) -> list[str]:
    """Return the agent's tasks, each once."""
    texts: dict[str, None] = {}
    for call in calls:
        if call.outcome == "ok" and call.intent:
            plain = "".join(filter(str.isprintable, " ".join(redact(call.intent).split())))
            texts[ABSOLUTE.sub(_end, plain)[:_MAX_REQUEST]] = None
    return list(filter(None, texts))[:_MAX_REQUESTS]


def _names_a_place(line: str) -> bool:
    # Checked without the escapes that JSON or Python added, because an escaped line end would look
    # like a letter.
    return ABSOLUTE.search(_ESCAPED.sub(lambda one: _PLAIN.get(one[1], " "), line)) is not None


def _end(path: re.Match[str]) -> str:
    return last_part(path[0].replace("\\", "/")) or "…"


def without_undone(
    calls: Sequence[RecordedCall],
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """Return the calls of one host, oldest first, without undo, redo and undone calls, and
    separately the undone calls. When results weren't kept, an undo step is matched with the newest
    changes."""
    #: Numbers of the calls whose changes are in the scene, and of the calls undone, newest last.
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
    """Return the changes that an undo or redo affects, newest first."""
    result = call.result if isinstance(call.result, dict) else {}
    reported = result.get("undone", result.get("redone"))
    if isinstance(reported, list):
        ids = [one.get("undo_id") for one in reported if isinstance(one, dict)]
        return [one for one in reversed(changes) if calls[one].undo_id in ids]
    steps = call.arguments.get("steps", 1) if isinstance(call.arguments, dict) else 1
    return list(reversed(changes))[: steps if isinstance(steps, int) else 1]
