"""A list of instances never contains a dead one, even if a different process has reused its process
id."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from callboard.ground.live_process import start_ticks
from callboard.transport.instances import Instance, announce, announced, folder, listed
from callboard.transport.process_age import began_at
from callboard_programs.relay.finder import HostFinder
from serving import served
from waiting import until


@pytest.fixture
def nobody() -> str:
    """Return an address where nothing answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


def test_one_that_lives_and_does_not_answer_is_silent(nobody: str) -> None:
    announce(Instance("a" * 16, "maya", "maya", nobody, None, os.getpid(), time.time()))
    assert [entry.state for entry in listed()] == ["silent"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports this")
def test_one_whose_end_nobody_has_asked_for_is_gone(nobody: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    announce(Instance("c" * 16, "maya", "maya", nobody, None, process.pid, time.time()))
    assert listed() == []
    process.wait()


def test_one_whose_number_another_process_has_now_is_gone(nobody: str) -> None:
    long_ago = time.time() - 7 * 86_400
    path = announce(Instance("b" * 16, "maya", "maya", nobody, None, os.getpid(), long_ago))
    assert listed() == []
    assert not path.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"pid": "1"},
        {"started": "now"},
        {"started": float("inf"), "pid": os.getpid()},
        {"started": 10**400, "pid": os.getpid()},
        {"kind": 7},
        {"url": 7},
        {"url": "http://["},
        {"url": "http://127.0.0.1:port/mcp"},
        {"token": ["t"]},
        {"scene": 7},
        {"skill_paths": "abc"},
        {"skill_paths": [7]},
        {"id": "../kept"},
    ],
    ids=" ".join,  # The ids omit the values, because parallel test processes must use the same ids.
)
def test_a_file_that_says_nonsense_hides_nobody_and_removes_nothing(
    nobody: str, home: Path, wrong: dict[str, Any]
) -> None:
    kept = home / "kept.json"
    kept.write_text("{}")
    good = Instance("a" * 16, "maya", "maya", nobody, None, os.getpid(), time.time())
    folder = announce(good).parent
    gone = asdict(good) | {"id": "b" * 16, "pid": 2**22 + 1}
    (folder / f"{'b' * 16}.json").write_text(json.dumps(gone | wrong))
    (folder / f"{'c' * 16}.json").write_text("[" * 100_000)
    assert [entry.instance for entry in listed()] == [good]
    assert kept.exists()


def test_one_that_answers_with_too_many_brackets_is_not_serving() -> None:
    body = b"[" * 60_000
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + body)

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/mcp"
        announce(Instance("a" * 16, "maya", "maya", url, None, os.getpid(), time.time()))
        assert [entry.state for entry in listed()] == ["busy"]
        thread.join()


def test_one_that_is_late_is_busy_and_no_other_is_taken_for_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as late, served(announce=True):
        (here,) = announced(folder())
        url = f"http://127.0.0.1:{late.getsockname()[1]}/mcp"
        now = time.time()
        meant = Instance("a" * 16, here.kind, "late", url, None, os.getpid(), now - 1)
        announce(meant)
        assert {one.instance.id: one.state for one in listed()}[meant.id] == "busy"
        finder = HostFinder(None)
        finder.connected(meant)
        assert finder.find() is None
        assert f"{meant.id} ({meant.kind}) is busy" in finder.reason


@pytest.mark.skipif(not start_ticks(os.getpid()), reason="this system counts no ticks")
@pytest.mark.parametrize("away", [-86_400, 0, 86_400])
def test_one_stays_listed_when_the_clock_jumps(away: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as late:
        url = f"http://127.0.0.1:{late.getsockname()[1]}/mcp"
        about = ("maya", "maya", url, None, os.getpid(), time.time() + away)
        ticks = start_ticks(os.getpid())
        announce(Instance("a" * 16, *about, ticks=ticks))
        # The instance's process is gone, and a different process has its id.
        announce(Instance("b" * 16, *about, ticks=ticks - 1))
        assert [(one.instance.id[0], one.state) for one in listed()] == [("a", "busy")]
    with served(announce=True) as server:
        (here,) = (one for one in announced(folder()) if one.id == server.app.id)
        assert here.ticks == ticks


def test_when_a_process_began_is_known() -> None:
    before = time.time()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        began = began_at(process.pid)
        process.kill()
    assert began is not None
    assert before - 2 <= began <= time.time() + 2
    assert began_at(2**22 + 1) is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems name no folder of a session")
def test_an_instance_whose_home_cannot_be_written_is_found_through_the_session(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runtime := tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    folder().write_text("a file where the folder should be")
    with served(announce=True) as host:
        (entry,) = listed()
        assert (entry.instance.id, entry.state) == (host.app.id, "serving")
        (sentence,) = host.app.service.not_kept()
        assert sentence.startswith(f"{folder()} can't be written (")
        folder().unlink()
        host.on_main(lambda: host.host.announce("project"))

        def has_moved() -> bool:
            (one,) = announced(folder())
            assert one.id == host.app.id
            return not host.app.service.not_kept()

        until(has_moved, "the file in its folder", pause=0)

        def left() -> list[Path]:
            return [path for path in runtime.rglob("*") if path.is_file()]

        until(lambda: not left(), "the end of the other file", pause=0)
    assert listed() == []
