"""Lines in a growing file are read by another process, or by the successor of a killed process."""

from __future__ import annotations

import errno
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from call_records import a_call
from hypothesis import given
from hypothesis import strategies as st

from callboard.records import journal, schema
from callboard.records.journal import STEP, Journal, read_lines
from callboard.records.model import CallPlace
from callboard.records.redaction import Redactor
from needed import need

REDACTOR = Redactor(home="/home/jdoe", user="jdoe")


@pytest.fixture(params=["mapped", "written"])
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield a journal of each kind."""
    if request.param == "written":
        monkeypatch.setattr(journal, "_KEEPS_ROOM", frozenset())
    made = Journal(tmp_path)
    if request.param == "mapped" and made.path.stat().st_size != STEP:
        made.close()
        pytest.skip("this file system may not keep reserved room")
    yield made
    if made.path.exists():
        made.path.unlink()


def test_what_was_appended_is_read_at_once(made: Journal) -> None:
    lines = [f"line {number}".encode() for number in range(50_000)]
    offset, seen = 0, []
    for number, line in enumerate(lines):
        made.append(line + b"\n")
        if number % 10_000 == 0:
            new, offset = read_lines(made.path, offset)
            seen += new
    assert made.size > 2 * STEP
    new, offset = read_lines(made.path, offset)
    assert [*seen, *new] == lines
    assert offset == made.size
    made.close()
    assert made.path.stat().st_size == made.size


def test_a_line_that_is_half_there_is_not_read(made: Journal) -> None:
    made.append(b"whole\n")
    end = made.size
    made.close()
    whole = made.path.read_bytes()
    # Any part of the line may be in the file before the others.
    for half in (b"ha", b"ha\0\0", b"\0\0lf\n", b"h\0lf\n", b"\0" * 4 + b"\n"):
        made.path.write_bytes(whole + half + b"\0" * 100)
        assert read_lines(made.path, 0) == ([b"whole"], end)


def test_a_line_that_finds_no_room_leaves_the_others(tmp_path: Path) -> None:
    need("resource")
    import resource

    made = Journal(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        made.append(b"first\n")
        resource.setrlimit(resource.RLIMIT_FSIZE, (STEP + 10, hard))
        made.append(b"x" * 100_000 + b"\n")
        made.append(b"x" * 100_000 + b"\n")
        with pytest.raises(OSError) as caught:
            made.append(b"x" * 100_000 + b"\n")
        assert caught.value.errno in (errno.EFBIG, errno.ENOSPC)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        made.append(b"last\n")
        lines, _ = read_lines(made.path, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
        made.close()
    assert (lines[0], lines[-1]) == (b"first", b"last")
    assert {len(line) for line in lines[1:-1]} == {100_000}


def test_the_short_way_to_a_line_says_the_same() -> None:
    call = a_call(
        started=1_800_000_000.123456,
        duration_ms=12.345,
        skill="scene",
        client_version="1",
        era="session",
        host="blender",
        queue_ms=0.25,
        main_thread_ms=0.5,
        undo_id='an "undo"',
        holder="1d",
        client="ada's agent",
        user="ada",
        machine="ws12",
        app="Blender 5.2.2",
        scene="/shows/film/kugel ü.blend",
        arguments={"name": "kugel ü", "size": 1.5, "count": 3, "on": True, "parent": None},
    )
    who = (call.client_name, call.client_version, call.era, call.session)
    who += (call.holder, call.client, call.host)
    place = CallPlace(call.user, call.machine, call.app, call.scene, call.project)
    assert call.queue_ms is not None
    assert call.main_thread_ms is not None
    short = schema.plain_line(
        call.call_id,
        call.started,
        call.duration_ms / 1000,
        schema.plain_middle((call.tool, call.skill), who),
        call.queue_ms / 1000,
        call.main_thread_ms / 1000,
        call.undo_id,
        schema.names(*place),
        REDACTOR.plain(call.arguments) or REDACTOR.json(call.arguments),
    )
    row, whole = schema.to_row(short), schema.to_row(schema.to_line(call, REDACTOR))
    assert row is not None
    assert whole is not None
    numbers = [index for index, value in enumerate(whole) if isinstance(value, float)]
    assert [row[index] for index in numbers] == pytest.approx([whole[n] for n in numbers], abs=2e-3)
    others = [index for index in range(len(whole)) if index not in numbers]
    assert [row[index] for index in others] == [whole[index] for index in others]


_TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["/home/jdoe/x", "token=abc123", "a@b.org", "x" * 300, "jdoe", "C:\\Users\\k\\a"]
    ),
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    _TEXTS,
)


def test_most_arguments_are_plain() -> None:
    arguments = {"name": "sphere1", "size": 1.5, "count": 3, "on": True, "parent": None}
    assert REDACTOR.plain(arguments) == REDACTOR.json(arguments)
    assert REDACTOR.plain({}) == "{}"
    for other in (
        {"a": 10**5000},
        {"a": [1]},
        {"path": "/home/jdoe/x"},
        {"token": "t"},
        {"a": "ü"},
        {1: 2},
        [1],
    ):
        assert REDACTOR.plain(other) is None


@given(st.dictionaries(_TEXTS, st.one_of(_SCALARS, st.lists(_SCALARS, max_size=3)), max_size=20))
def test_plain_arguments_are_redacted_like_any(value: dict[str, Any]) -> None:
    expected = json.loads(json.dumps(REDACTOR.value(value)))
    plain = REDACTOR.plain(value)
    assert json.loads(REDACTOR.json(value)) == expected
    assert plain is None or json.loads(plain) == expected
