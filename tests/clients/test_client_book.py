"""The file that lists the clients that may connect. Entries are added and revoked, and something
else may be found at the file's path."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.holder import TokenHolder
from callboard.errors import HostError, PeerError
from needed import need

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX owners and modes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "clients.json"


def test_a_token_is_its_clients_over_restarts_and_in_every_process(path: Path) -> None:
    here = ClientBook(path)
    entry, token = here.make("cursor")
    assert here.find(token) == entry.holder
    assert ClientBook(path).find(token) == entry.holder
    assert [known.name for known in ClientBook(path).all()] == ["cursor"]


def test_what_is_kept_is_not_the_token_and_nobody_else_reads_it(path: Path) -> None:
    _, token = ClientBook(path).make("cursor")
    assert token not in path.read_text()
    assert len(token) >= 43
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(each.name for each in path.parent.iterdir()) == ["clients.json", "clients.lock"]


def test_another_process_revokes_and_this_one_notices_at_the_next_question(path: Path) -> None:
    here, there = ClientBook(path), ClientBook(path)
    entry, token = there.make("cursor")
    gone: list[TokenHolder] = []
    here.revoked.watch(gone.append)
    assert here.find(token) == entry.holder
    revoked = there.revoke("cursor")
    assert revoked == entry
    assert there.revoke("cursor") is None
    assert here.find(token) is None
    assert gone == [entry.holder]


def test_a_full_disk_says_that_the_token_goes_on_and_how_to_end_it(path: Path) -> None:
    need("resource")
    import resource

    book = ClientBook(path)
    _, token = book.make("cursor")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
        with pytest.raises(HostError, match=r"'cursor' can still connect.*delete that file"):
            book.revoke("cursor")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert book.find(token) is not None
    path.unlink()
    assert book.find(token) is None


def test_who_gets_a_name_later_is_somebody_else(path: Path) -> None:
    book = ClientBook(path)
    first, old = book.make("cursor")
    second, new = book.make("cursor")
    assert first.holder != second.holder
    assert book.find(old) is None
    assert book.find(new) == second.holder


@pytest.mark.parametrize(
    "name",
    [
        "",
        "local",
        "anyone",
        "a b",
        "a\nb",
        "a\x1b[2J",
        "../x",
        "-x",
        "é",
        "a" * 65,
        "\u202ea",
        "\0",
    ],
)
def test_names_that_would_mislead_are_refused(path: Path, name: str) -> None:
    with pytest.raises(PeerError, match="can't be a client's name"):
        ClientBook(path).make(name)
    assert not path.exists()


ENTRY = {"name": "x", "id": "1", "hash": "0" * 64, "made": 1}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"clients": [',
        b"\x00\xff\xfe",
        b"[]",
        b"null",
        b'{"clients": {}}',
        b"[" * 100_000,
        b'{"clients": []}'.ljust(2**20 + 1),
    ],
)
def test_a_broken_file_lets_nobody_in_and_is_not_overwritten(path: Path, content: bytes) -> None:
    book = ClientBook(path)
    _, token = book.make("cursor")
    path.write_bytes(content)
    path.chmod(0o600)
    assert book.find(token) is None
    with pytest.raises(HostError, match="move it away"):
        book.make("other")
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "wrong",
    [
        1,
        None,
        {},
        {**ENTRY, "hash": 5},
        {**ENTRY, "hash": "0"},
        {**ENTRY, "name": "local"},
        {**ENTRY, "id": "local"},
        {**ENTRY, "name": "a\x1b[2J"},
    ],
)
def test_an_entry_that_is_none_loses_only_itself(path: Path, wrong: object) -> None:
    book = ClientBook(path)
    _, token = book.make("cursor")
    value = json.loads(path.read_text())
    value["clients"].insert(0, wrong)
    path.write_text(json.dumps(value))
    assert book.find(token) is not None
    assert [known.name for known in book.all()] == ["cursor"]


@posix
def test_a_file_that_others_may_write_lets_nobody_in(path: Path) -> None:
    book = ClientBook(path)
    _, token = book.make("cursor")
    path.chmod(0o666)
    assert book.find(token) is None


@posix
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="chown needs root")
def test_a_file_of_another_user_lets_nobody_in(path: Path) -> None:
    book = ClientBook(path)
    _, token = book.make("cursor")
    os.chown(path, 12345, -1)
    assert book.find(token) is None


@posix
def test_a_pipe_or_a_folder_in_its_place_holds_nobody_up(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    assert ClientBook(path).find("x") is None
    path.unlink()
    path.mkdir()
    assert ClientBook(path).find("x") is None


@pytest.mark.parametrize("token", ["", "é", "\udcff", "\0", "x" * 100_000])
def test_tokens_of_any_characters_are_nobodys(path: Path, token: str) -> None:
    assert ClientBook(path).find(token) is None


def test_a_client_asks_once_and_its_answer_is_final_until_the_command_line_says_otherwise(
    path: Path,
) -> None:
    book, told = ClientBook(path), []
    entry, token = book.make("ada")
    book.changed.watch(lambda: told.append(len(book.newcomers())))
    ClientBook(path).ask(entry.id, "10.0.0.7", "x" * 10_000)
    (asking,) = book.newcomers()
    assert (asking.asks_from, len(asking.asks_as)) == ("10.0.0.7", 200)
    assert entry.fingerprint == asking.fingerprint
    assert token not in path.read_text()
    ClientBook(path).answer(entry.id, yes=False)
    with pytest.raises(PeerError, match="is no longer asking"):
        ClientBook(path).answer(entry.id, yes=True)
    ClientBook(path).ask(entry.id, "10.0.0.7", "")
    assert book.newcomers() == []
    approved = ClientBook(path).approve("ada")
    assert approved is not None
    assert (approved.remote, approved.turned_away) == (True, False)
    assert told[:2] == [1, 0]
