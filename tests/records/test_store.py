"""Records survive a kill, a full disk, a damaged file and a second process."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from call_records import a_call

from callboard.records import schema
from callboard.records.journal import HEADER, Journal
from callboard.records.model import CallRecord
from callboard.records.reader import Filter, Reader
from callboard.records.redaction import Redactor
from callboard.records.retention import Retention
from callboard.records.schema import DATABASE, MIGRATIONS, VERSION
from callboard.records.store import ROTATE, Store
from waiting import until

CORE = Path(__file__).parents[2] / "core"
#: The folders from which our scripts import.
TESTS = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
FOREVER = Retention(days=1e6)
REDACTOR = Redactor(home="/home/jdoe", user="jdoe")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "records"


def ids_in_database(folder: Path) -> list[str]:
    db = sqlite3.connect(folder / DATABASE)
    try:
        return [row[0] for row in db.execute("SELECT call_id FROM calls ORDER BY seq")]
    finally:
        db.close()


def test_a_call_comes_back_as_it_was(folder: Path) -> None:
    call = a_call(
        skill="scene",
        outcome="refused",
        arguments={"name": "kugel ü", "deep": [1, None, {"a": 1.5}]},
        client_version="1.2",
        era="2025-11-25",
        host="blender",
        error_code=-32001,
        error_message="capability_missing: tool 'x' requires usd",
        queue_ms=0.25,
        main_thread_ms=0.5,
        undo_id="undo-1",
        intent="wants a sphere",
        trace="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        missing=("usd", "render"),
        result={"ok": True},
        client="ada's agent",
        user="ada",
        machine="ws12 1a2b3c4d",
        app="Blender 5.2.2",
        scene="/shows/film/sh010.blend",
        project="film",
    )
    store = Store(folder, redactor=REDACTOR, results=True)
    store.open()
    store.record(call)
    assert store.reader().get(call.call_id) == call  # The record isn't in the database yet.
    assert store.flush()
    assert store.reader().get(call.call_id) == call
    store.close()
    assert [path.name for path in folder.iterdir()] == [DATABASE]
    assert Reader(folder).get(call.call_id) == call


def test_importing_and_constructing_starts_and_creates_nothing(folder: Path) -> None:
    before = threading.active_count()
    Store(folder)
    assert threading.active_count() == before
    assert not folder.exists()


def test_results_are_kept_only_where_that_is_asked_for(folder: Path) -> None:
    store = Store(folder)
    store.record(call := a_call(result={"a": 1}))
    kept = store.reader().get(call.call_id)
    assert kept is not None
    assert kept.result is None
    assert kept == call._replace(result=None)


def test_nothing_secret_is_written_anywhere(folder: Path) -> None:
    store = Store(folder, redactor=REDACTOR, results=True)
    store.open()
    store.record(
        a_call(
            arguments={"apiKey": "hunter2", "path": "/home/jdoe/x"},
            error_message="no /home/jdoe/x for password=hunter2",
            intent="token: hunter2",
            result={"text": "/home/jdoe"},
        )
    )
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert store.flush()
    written += b"".join(path.read_bytes() for path in folder.iterdir())
    store.close()
    assert b"sphere1" not in written
    assert b"hunter2" not in written
    assert b"jdoe" not in written


WRITES_FOREVER = """
import sys, time, uuid
from pathlib import Path
from callboard.records.model import CallRecord
from callboard.records.store import Store
store = Store(Path(sys.argv[1]))
store.open()
for n in range(5000):
    call_id = str(uuid.uuid4())
    store.record(CallRecord(call_id, time.time(), 0.1, "tool", "ok", {"n": n}))
    sys.stdout.write(call_id + "\\n")
    sys.stdout.flush()
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 300, 2500, 4999])
def test_every_acknowledged_call_survives_a_kill_once(folder: Path, after: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WRITES_FOREVER, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CORE)},
    )
    assert child.stdout is not None
    acknowledged = [child.stdout.readline().strip() for _ in range(after)]
    child.kill()
    acknowledged += [line.strip() for line in child.stdout if line.endswith("\n")]
    child.wait()
    child.stdout.close()

    seen = (
        {call_id for call_id in acknowledged if Reader(folder).get(call_id)} if after < 5 else None
    )
    assert seen is None or seen == set(acknowledged)
    assert Reader(folder).count() >= len(acknowledged)
    store = Store(folder)
    store.open()
    assert store.flush()
    stored = ids_in_database(folder)
    store.close()
    assert len(stored) == len(set(stored))
    assert set(acknowledged) <= set(stored)
    # One call may have been recorded but not yet announced.
    assert len(stored) <= len(acknowledged) + 1


def test_a_journal_folded_but_not_removed_adds_nothing(folder: Path) -> None:
    store = Store(folder)
    store.open()
    store.record(a_call())
    (journal,) = folder.glob("*.journal")
    copy = journal.read_bytes()
    store.close()
    (folder / "1-left.journal").write_bytes(copy)
    assert Reader(folder).count() == 1
    again = Store(folder)
    again.open()
    assert again.flush()
    again.close()
    assert len(ids_in_database(folder)) == 1
    assert not list(folder.glob("*.journal"))


def test_half_a_line_and_rubbish_are_left_out(folder: Path) -> None:
    folder.mkdir()
    journal = Journal(folder)
    store = Store(folder)
    good = a_call()
    journal.append(b'["a row of another shape"]\n')
    journal.append(b"\xff\xfe rubbish\n")
    store.open()
    store.record(good)
    assert store.flush()
    store.close()
    (line,) = Reader(folder).recent().calls
    journal.append(b'["half')
    journal.close()
    (folder / "2-other.journal").write_bytes(b"another version's\n[1]\n")
    assert line == good
    again = Store(folder)
    again.open()
    assert again.flush()
    again.close()
    assert ids_in_database(folder) == [good.call_id]
    assert (folder / "2-other.journal").exists()


def test_records_with_different_fields_come_back_together(folder: Path) -> None:
    calls = [a_call(tool=f"scene__{number}") for number in range(150)]
    calls[70] = a_call(outcome="refused", error_code=-31003, error_message="no", missing=("usd",))
    calls[149] = a_call(project="film", undo_id="undo-1", arguments=None, session=None)
    store = Store(folder)
    store.open()
    for call in calls:
        store.record(call)
    assert store.flush()
    store.close()
    reader = Reader(folder)
    assert ids_in_database(folder) == [call.call_id for call in calls]
    assert [reader.get(call.call_id) for call in calls] == calls


def test_a_journal_of_empty_rows_adds_nothing(folder: Path) -> None:
    folder.mkdir()
    journal = Journal(folder)
    journal.append(f"[{','.join(['null'] * (len(schema.COLUMNS) - 2))}]\t\t\n".encode())
    journal.close()
    good = a_call()
    store = Store(folder)
    store.open()
    store.record(good)
    assert store.flush()
    store.close()
    assert ids_in_database(folder) == [good.call_id]


def test_two_processes_share_the_file(folder: Path) -> None:
    stores = [Store(folder) for _ in range(2)]
    calls = [a_call() for _ in range(400)]
    for store in stores:
        store.open()
    for n, call in enumerate(calls):
        stores[n % 2].record(call)
    # Both stores see both records, whether they are in the journal or in the database.
    assert stores[0].reader().count() == 400
    assert [store.flush() for store in stores] == [True, True]
    for store in stores:
        store.close()
    assert sorted(ids_in_database(folder)) == sorted(call.call_id for call in calls)


def test_a_new_database_survives_many_who_open_it_at_once(tmp_path: Path) -> None:
    for n in range(10):
        folder = tmp_path / str(n)
        warnings: list[str] = []
        stores = [Store(folder, warn=warnings.append) for _ in range(4)]
        for store in stores:
            store.open()
            store.record(a_call())
        assert [store.flush(20) for store in stores] == [True] * 4
        for store in stores:
            store.close()
        assert len(ids_in_database(folder)) == 4
        assert warnings == []


def test_many_threads_record_at_once(folder: Path) -> None:
    store = Store(folder)
    store.open()
    calls = [[a_call() for _ in range(200)] for _ in range(4)]

    def work(mine: list[CallRecord]) -> None:
        for call in mine:
            store.record(call)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert sorted(ids_in_database(folder)) == sorted(c.call_id for mine in calls for c in mine)


@pytest.mark.parametrize("left", [0, 5, len(HEADER), len(HEADER) + 10])
def test_a_journal_that_is_cut_short_costs_what_was_cut_and_nothing_else(
    folder: Path, left: int
) -> None:
    """Another program cuts the file while it is being written to. This runs in a separate process,
    because a write to a mapping of the lost part would kill it."""
    program = (
        "import os, sys; from pathlib import Path; from callboard.records.store import Store\n"
        "from call_records import a_call\n"
        "folder = Path(sys.argv[1]); store = Store(folder); store.open()\n"
        "store.record(a_call(call_id='first')); assert store.flush()\n"
        "for path in folder.glob('*.journal'): os.truncate(path, int(sys.argv[2]))\n"
        "store.record(a_call(call_id='second')); store.record(a_call(call_id='third'))\n"
        "assert store.flush() and store.degraded is None; store.close()\n"
    )
    path = os.pathsep.join([str(CORE), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(left)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert ids_in_database(folder) == ["first", "second", "third"]
    assert not list(folder.glob("*.journal"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes; the profile is private there")
def test_nobody_else_on_this_machine_can_read_the_records(folder: Path) -> None:
    before = os.umask(0o022)
    try:
        store = Store(folder)
        store.open()
        store.record(a_call())
        assert store.flush()
        kept = [folder, *folder.iterdir()]
        assert DATABASE in {path.name for path in kept}
        assert [path.name for path in kept if path.stat().st_mode & 0o077] == []
        store.close()
        # An older version's files lose the permissions for other users.
        (folder / DATABASE).chmod(0o644)
        store.open()
        assert store.flush()
        assert [path.name for path in folder.iterdir() if path.stat().st_mode & 0o077] == []
        store.close()
    finally:
        os.umask(before)


def test_a_journal_that_has_grown_is_replaced(folder: Path) -> None:
    store = Store(folder)
    store.open()
    (first,) = folder.glob("*.journal")
    calls = [a_call(arguments={"text": "x" * 30_000}) for _ in range(60)]
    for call in calls:
        store.record(call)
    assert store.flush()
    (second,) = folder.glob("*.journal")
    assert second != first
    # The second journal has only the lines that were written while the first one was moved to the
    # database.
    written = second.read_bytes().rstrip(b"\0")
    assert written.startswith(HEADER)
    assert len(written) < ROTATE
    store.record(last := a_call())
    store.close()
    assert ids_in_database(folder) == [call.call_id for call in [*calls, last]]


def test_a_journal_is_replaced_while_calls_go_on(folder: Path) -> None:
    store = Store(folder)
    store.open()
    (first,) = folder.glob("*.journal")
    calls: list[CallRecord] = []
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.001):
            calls.append(call := a_call(arguments={"text": "x" * 3_000}))
            store.record(call)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        until(lambda: not first.exists(), "another journal")
    finally:
        over.set()
        thread.join()
    store.close()
    assert sorted(ids_in_database(folder)) == sorted(call.call_id for call in calls)


def test_a_folder_that_cannot_be_made_costs_a_warning_and_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    warnings: list[str] = []
    folder = tmp_path / "file" / "records"
    store = Store(folder, warn=warnings.append, retry=0.05, retention=FOREVER)
    store.open()
    calls = [a_call(started=1000.0 + n) for n in range(3)]
    store.record(calls[0])
    assert str(store.trouble).endswith("; 1 is in memory only")
    for call in calls[1:]:
        store.record(call)
    assert store.degraded
    assert not store.flush()
    assert [call.call_id for call in store.reader().recent().calls] == [
        call.call_id for call in reversed(calls)
    ]
    assert len(warnings) == 1
    assert "can't be recorded" in warnings[0]
    assert str(store.trouble).endswith("; 3 are in memory only")
    # Writing works again, so the records that were kept aside are written.
    (tmp_path / "file").unlink()
    until(store.flush, "what was kept aside to be written")
    assert store.degraded is None
    store.close()
    assert ids_in_database(folder) == [call.call_id for call in calls]
    assert len(warnings) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on file size")
def test_a_full_disk_costs_a_warning_and_no_call(folder: Path) -> None:
    # A limit on file size makes writing fail halfway, as a full disk does.
    script = """
import json, resource, signal, sys, time
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from call_records import a_call
from callboard.records.store import Store
from waiting import until
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
warnings = []
store = Store(Path(sys.argv[1]), warn=warnings.append, retry=0.05)
store.open()
assert store.flush()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
# More than what the journal has reserved.
resource.setrlimit(resource.RLIMIT_FSIZE, (270_000, hard))
calls = [a_call(arguments={"text": "x" * 900}) for _ in range(300)]
for call in calls:
    store.record(call)
degraded = store.degraded
seen = store.reader().count()
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
until(store.flush, "what was kept aside to be written")
store.close()
print(json.dumps([degraded, seen, warnings, sorted(c.call_id for c in calls)]))
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(CORE), *TESTS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    degraded, seen, warnings, ids = json.loads(run.stdout)
    assert degraded
    assert seen == 300
    assert len(warnings) == 1
    assert sorted(ids_in_database(folder)) == ids


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_folder_is_still_read(folder: Path) -> None:
    store = Store(folder)
    store.open()
    store.record(call := a_call())
    store.close()
    folder.chmod(0o500)
    try:
        warnings: list[str] = []
        again = Store(folder, warn=warnings.append)
        again.open()
        again.record(late := a_call())
        assert {c.call_id for c in again.reader().recent().calls} == {call.call_id, late.call_id}
        again.close()
        assert warnings[0].startswith("Calls can't be recorded")
        assert warnings[1].startswith("1 calls are not in the records")
        assert len(warnings) == 2
    finally:
        folder.chmod(0o700)


def test_a_damaged_database_is_set_aside(folder: Path) -> None:
    folder.mkdir()
    (folder / DATABASE).write_bytes(b"this was a database once" * 100)
    warnings: list[str] = []
    store = Store(folder, warn=warnings.append)
    store.open()
    store.record(call := a_call())
    store.flush()
    assert store.flush()
    store.close()
    assert ids_in_database(folder) == [call.call_id]
    assert len(list(folder.glob("damaged-*"))) == 1
    assert len(warnings) == 1


def test_a_newer_database_is_not_touched_and_calls_wait(folder: Path) -> None:
    folder.mkdir()
    db = sqlite3.connect(folder / DATABASE)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    before = (folder / DATABASE).read_bytes()
    warnings: list[str] = []
    store = Store(folder, warn=warnings.append)
    store.open()
    store.record(call := a_call())
    assert not store.flush()
    store.close()
    assert "update callboard" in warnings[0]
    assert (folder / DATABASE).read_bytes()[100:] == before[100:]
    (journal,) = folder.glob("*.journal")
    assert call.call_id.encode() in journal.read_bytes()


@pytest.mark.parametrize("version", range(VERSION))
def test_an_older_database_is_migrated_with_what_it_holds(folder: Path, version: int) -> None:
    folder.mkdir()
    db = sqlite3.connect(folder / DATABASE, isolation_level=None)
    for step in MIGRATIONS[:version]:
        for statement in step:
            db.execute(statement)
    if version:
        db.execute(
            "INSERT INTO calls (call_id, started, duration_ms, tool, outcome)"
            " VALUES ('old', 1e9, 1, 't', 'ok')"
        )
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    store = Store(folder, retention=FOREVER)
    store.open()
    store.record(call := a_call())
    assert store.flush()
    store.close()
    assert ids_in_database(folder) == ["old", call.call_id][not version :]


def test_lines_of_an_older_version_are_read(folder: Path) -> None:
    folder.mkdir()
    head = '["{0}",1e9,1.5,"t","ok",null,"an agent","1","session","5e55"{1},"maya",null,null,1,1'
    lines = [
        head.format("oldest", "") + ',null,null,null,null]\t{"a":1}\t\n',
        head.format("older", ',"1d"') + ',null,null,null,null]\t{"a":1}\t\n',
    ]
    text = "callboard journal 1\n" + "".join(lines)
    (folder / "4711-0011aabb.journal").write_bytes(text.encode())
    store = Store(folder, retention=FOREVER)
    store.open()
    assert store.flush()
    store.close()
    calls = {call.call_id: call for call in Reader(folder).recent().calls}
    assert {id: (call.holder, call.host) for id, call in calls.items()} == {
        "oldest": (None, "maya"),
        "older": ("1d", "maya"),
    }
    assert all(call.user is None and call.arguments == {"a": 1} for call in calls.values())


def test_a_database_in_wal_leaves_it(folder: Path) -> None:
    folder.mkdir()
    db = sqlite3.connect(folder / DATABASE, isolation_level=None)
    assert db.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    db.execute("CREATE TABLE x (y)")
    db.close()
    store = Store(folder)
    store.open()
    store.record(call := a_call())
    assert store.flush()
    assert {path.suffix for path in folder.iterdir()} == {".db", ".journal"}
    store.close()
    assert ids_in_database(folder) == [call.call_id]
    db = sqlite3.connect(folder / DATABASE)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    db.close()


@pytest.mark.parametrize("fold_between", [False, True])
def test_the_end_of_a_change_takes_the_place_of_its_beginning(
    folder: Path, fold_between: bool
) -> None:
    store = Store(folder)
    store.open()
    begun = a_call(outcome="unfinished")
    store.record(begun)
    store.record(killed := a_call(outcome="unfinished"))
    if fold_between:
        assert store.flush()
    ended = begun._replace(outcome="ok", duration_ms=7.5)
    store.record(ended)
    for _ in range(2):  # Check before and after the journal's lines are moved to the database.
        assert store.reader().get(begun.call_id) == ended
        assert store.reader().get(killed.call_id) == killed
        assert store.reader().count() == 2
        assert store.flush()
    store.close()
    assert sorted(ids_in_database(folder)) == sorted([begun.call_id, killed.call_id])


@pytest.mark.slow
def test_a_report_under_way_costs_no_warning(folder: Path) -> None:
    warnings: list[str] = []
    store = Store(folder, warn=warnings.append, retry=0.02)
    store.open()
    assert store.flush()
    db = sqlite3.connect(folder / DATABASE, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    store.record(call := a_call())
    assert not store.flush(20)  # The writer waits for 5 s before it continues.
    db.execute("ROLLBACK")
    db.close()
    until(store.flush, "the call to be folded")
    store.close()
    assert not warnings
    assert ids_in_database(folder) == [call.call_id]


def test_another_machines_journal_is_left_to_it_for_a_day(folder: Path) -> None:
    folder.mkdir()
    theirs = folder / "0a1b2c3d-4711-0011aabb.journal"
    theirs.write_bytes(HEADER + schema.to_line(call := a_call(), REDACTOR))
    store = Store(folder)
    store.open()
    assert store.flush()
    assert theirs.exists()
    assert ids_in_database(folder) == []
    assert store.reader().count() == 1
    os.utime(theirs, (time.time() - 2 * 86_400,) * 2)
    assert store.flush()
    store.close()
    assert not theirs.exists()
    assert ids_in_database(folder) == [call.call_id]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows doesn't delete files that are open")
def test_the_folder_may_be_deleted_while_it_is_used(folder: Path) -> None:
    store = Store(folder)
    store.open()
    store.record(a_call())
    assert store.flush()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    store.flush()
    store.record(call := a_call())
    assert store.flush()
    store.close()
    assert ids_in_database(folder) == [call.call_id]


def test_old_records_go(folder: Path) -> None:
    store = Store(folder, retention=Retention(days=7))
    now = time.time()
    store.open()
    kept = [a_call(started=now - days * 86_400) for days in (0, 2, 6.9)]
    for call in [*kept, *(a_call(started=now - 7.1 * 86_400) for _ in range(700))]:
        store.record(call)
    store.close()
    assert sorted(ids_in_database(folder)) == sorted(call.call_id for call in kept)


@pytest.mark.parametrize("days", [(0, 0, 2000, 2000), (-2000, -2000, 0, 0)])
def test_a_clock_that_jumped_deletes_nothing(folder: Path, days: tuple[int, ...]) -> None:
    store = Store(folder, retention=Retention(days=7))
    now = time.time()
    store.open()
    calls = [a_call(started=now + each * 86_400) for each in days]
    for call in calls:
        store.record(call)
    store.close()
    later = Store(folder, retention=Retention(days=7))
    later.open()
    later.close()
    assert ids_in_database(folder) == [call.call_id for call in calls]


def test_the_oldest_records_go_when_it_is_too_much(folder: Path) -> None:
    limit = 2 * 2**20
    now = time.time()
    store = Store(folder, retention=Retention(max_bytes=limit))
    store.open()
    calls = [a_call(started=now - 5000 + n, arguments={"t": "x" * 2000}) for n in range(2500)]
    for call in calls:
        store.record(call)
    assert store.flush(60.0)
    store.close()
    left = ids_in_database(folder)
    assert 0 < len(left) < 2500
    assert left == [call.call_id for call in calls][-len(left) :]
    assert (folder / DATABASE).stat().st_size <= 1.25 * limit  # The size is checked only at times.


def test_paging_meets_every_call_once_and_newest_first(folder: Path) -> None:
    store = Store(folder, retention=FOREVER)
    calls = [a_call(started=1000.0 + n // 3) for n in range(25)]
    for call in calls[:20]:
        store.record(call)
    store.open()
    assert store.flush()
    for call in calls[20:]:
        store.record(call)  # Some of the records are in the database already.
    reader, cursor = store.reader(), None
    seen: list[CallRecord] = []
    while True:
        page = reader.recent(limit=4, cursor=cursor)
        seen += page.calls
        cursor = page.cursor
        if cursor is None:
            break
    store.close()
    assert [call.started for call in seen] == sorted((c.started for c in calls), reverse=True)
    assert {call.call_id for call in seen} == {call.call_id for call in calls}
    assert len(seen) == 25


def test_filters(folder: Path) -> None:
    calls = {
        "a": a_call(tool="scene__delete", started=10.0, arguments={"name": "100%_done"}),
        "b": a_call(outcome="refused", session="other", started=20.0, host="maya"),
        "c": a_call(outcome="error", client_name="second", started=30.0, error_message="Kaputt"),
        "d": a_call(started=5.0, arguments={"say": 'grüße "all"'}),
    }
    store = Store(folder)
    for call in calls.values():
        store.record(call)
    names = {call.call_id: name for name, call in calls.items()}

    def ids(**where: object) -> str:
        page = store.reader().recent(Filter(**where))  # type: ignore[arg-type]
        assert len(page.calls) == store.reader().count(Filter(**where))  # type: ignore[arg-type]
        return "".join(sorted(names[call.call_id] for call in page.calls))

    assert ids() == "abcd"
    assert ids(text="grüße") == "d"
    assert ids(text='"all"') == "d"
    assert ids(tool="scene__delete") == "a"
    assert ids(outcomes=("refused", "error")) == "bc"
    assert ids(session="other") == "b"
    assert ids(client="second") == "c"
    assert ids(host="maya") == "b"
    assert ids(since=20.0) == "bc"
    assert ids(until=20.0) == "ad"
    assert ids(text="kaputt") == "c"
    assert ids(text="100%_") == "a"
    assert ids(text="1__%") == ""
    with pytest.raises(ValueError, match="cursor"):
        store.reader().recent(cursor="yesterday")


def test_hostile_text_is_recorded_all_the_same(folder: Path) -> None:
    store = Store(folder)
    store.open()
    store.record(half := a_call(tool="\ud800", arguments={"\ud800": "\udfff\x00"}))
    store.record(long := a_call(tool="t" * 10_000, client_name="\n" * 1000))
    store.record(
        a_call(call_id="odd", arguments={"x": {1}}, error_code=object())
    )  # The record is dropped, and the log reports this.
    assert store.flush()
    store.close()
    read = Reader(folder).get(half.call_id)
    assert read is not None
    assert read.tool == "?"
    read = Reader(folder).get(long.call_id)
    assert read is not None
    assert len(read.tool) < 300
    assert Reader(folder).get("odd") is None
