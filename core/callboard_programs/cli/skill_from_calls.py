"""``callboard new-skill --from-calls``: chooses the calls, writes the skill and runs it once."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from callboard.calls.call import server_of
from callboard.demand.period import parse_since
from callboard.errors import CallboardError, HostError, PeerError
from callboard.records.model import CallRecord
from callboard.records.reader import MAX_PAGE, Filter, Reader
from callboard.records.redaction import Redactor
from callboard.records.store import default_folder
from callboard.settings import config_from, under_policy
from callboard.skills.discovery import BUNDLED, scan, search_paths
from callboard.skills.from_calls.skill_writer import NewSkill, make_skill
from callboard.skills.load import load_skill
from callboard.skills.new_folder import write_folder

#: After this many seconds without a call, a conversation without a session is considered over.
_SILENCE = 1800.0


def make(parent: Path, name: str, ids: Sequence[str], since: str) -> Path:
    """Write the skill and return its folder. Print on stderr which calls were left out. Raises
    PeerError, HostError or SkillError."""
    calls = _chosen(Reader(default_folder()), ids, since)
    paths = search_paths(extra=under_policy(config_from({})).skill_paths)
    skills = [one.skill for one in scan(paths, None, load_skill)[0]]
    new = make_skill(name, calls, skills, Redactor().text)
    folder = write_folder(parent, name, new.files)
    when = [datetime.fromtimestamp(calls[at].started).strftime("%m-%d %H:%M") for at in (0, -1)]
    print(
        f"Made from {len(calls)} calls, {' to '.join(when)}; `callboard report --calls` lists the "
        "recorded calls and their ids",
        file=sys.stderr,
    )
    for sentence in new.left_out:
        print(f"Left out: {sentence}", file=sys.stderr)
    if new.draft.wanted:
        print(f"Inputs without a value: {', '.join(new.draft.wanted)}", file=sys.stderr)
    _try_once(new, folder)
    return folder


def _chosen(reader: Reader, ids: Sequence[str], since: str) -> list[CallRecord]:
    """Return the chosen calls, oldest first."""
    try:
        if ids:
            calls = reader.several(ids)
            if unknown := set(ids) - {call.call_id for call in calls}:
                raise PeerError(
                    f"there is no record of call {', '.join(sorted(unknown))[:200]}; `callboard "
                    "report --calls` and the panel's Activity tab show the recorded calls"
                )
            return calls
        return _newest_conversation(reader, parse_since(since))
    except ValueError as error:
        raise PeerError(str(error)) from None
    except sqlite3.Error as error:
        raise HostError(f"the records can't be read: {error}") from None


def _newest_conversation(reader: Reader, since: float | None) -> list[CallRecord]:
    """Return the calls of the session that the newest call belongs to. If the client opens a
    session for each call, as ``callboard call`` does, or has no sessions, return the calls that it
    has made to the same server since the last long silence."""
    newest = reader.recent(Filter(since=since, outcomes=("ok",)), limit=1).calls
    if not newest:
        raise PeerError("no call succeeded in that time; try --since all, or name calls by id")
    last = newest[0]
    where = Filter(since=since, client=last.client_name, host=last.host)
    # The client may alternate between hosts of the same kind, and trials in one host aren't part of
    # the work in another.
    server = server_of(last.call_id)
    page = reader.recent(where, limit=MAX_PAGE).calls
    recent = [call for call in page if server_of(call.call_id) == server]
    sizes = Counter(call.session for call in recent)
    unbounded = last.session is None or sizes[last.session] == 1
    calls: list[CallRecord] = []
    for call in recent:
        if unbounded and calls and calls[-1].started - call.started > _SILENCE:
            break
        singles = sizes[call.session] == sizes[last.session] == 1
        if call.session == last.session or singles:
            calls.append(call)
    return calls[::-1]


def _try_once(new: NewSkill, folder: Path) -> None:
    """If it is safe, run the skill on an empty OpenUSD stage. It is safe if the skill uses only
    tools that ship with callboard, and only files in a temporary folder. The tools' results become
    the expected results in the skill's test."""
    steps = new.draft.steps
    ships = all(step.skill.path.parent == BUNDLED for step in steps)
    if not ships or any(one.required and one.file is None for one in new.draft.inputs):
        return
    if any(one.reads for one in new.draft.inputs) or "script.execute" in new.draft.needs:
        return
    from callboard_testing.skill_bench import SkillBench, ToolFailed  # This imports a whole server.

    with tempfile.TemporaryDirectory(prefix="callboard-new-skill-") as place:
        files = {
            one.name: str(Path(place, one.file)) for one in new.draft.inputs if one.file is not None
        }
        try:
            with SkillBench(folder) as bench:
                full = f"{new.draft.name}.{new.draft.workflow}"
                run = bench.call("workflows__run", name=full, inputs=files)
        except (CallboardError, ToolFailed) as error:
            print(f"The skill didn't run on an empty OpenUSD stage: {error}", file=sys.stderr)
            return
    results = {step["step"]: step.get("result") for step in run["steps"]}
    for step in steps:
        result = results.get(step.id)
        step.result = result if isinstance(result, dict) else step.result
    for path, text in new.draft.files().items():
        (folder / path).write_text(text, encoding="utf-8")
    print(
        "The skill ran on an empty OpenUSD stage; its test expects the same results.",
        file=sys.stderr,
    )
