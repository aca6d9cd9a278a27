"""The calls from which ``callboard new-skill --from-calls`` makes a skill."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from time import time

import pytest

from callboard.records.model import CallRecord, Outcome
from callboard.records.store import Store
from callboard_programs.cli import main

HOUR = 3600.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def id_of(name: str) -> str:
    """Return an id for a call with this name. As in real ids, the beginning identifies the server,
    which here is the part of the name before the slash."""
    server, _, rest = name.rpartition("/")
    return sha256(server.encode()).hexdigest()[:8] + sha256(rest.encode()).hexdigest()[:24]


def record(*calls: tuple[str, str | None, float], client: str = "agent") -> None:
    """Record calls, each with the name of the object it made, its session, and its age in
    seconds."""
    store = Store()
    store.open()
    for name, session, ago in calls:
        outcome: Outcome = "error" if name == "failed" else "ok"
        arguments = {"kind": "cube", "name": name}
        # The call's tool doesn't ship with callboard, so the new skill's tests don't call it.
        store.record(
            CallRecord(
                *(id_of(name), time() - ago, 1.0, "own__make", outcome, arguments),
                client_name=client,
                session=session,
                host="openusd",
            )
        )
    store.close()


def made(folder: Path, capsys: pytest.CaptureFixture[str], *ids: str) -> list[str]:
    """Return the names in the new skill, in order."""
    own = folder / "skills" / "own"
    (own / "scripts").mkdir(parents=True, exist_ok=True)
    (own / "scripts" / "make.py").write_text("def main(kind, name): pass\n")
    (own / "tools.yaml").write_text("tools: [make]\n")
    text = "---\nname: own\ndescription: d\nmetadata: {dcc-mcp: {tools: tools.yaml}}\n---\n"
    (own / "SKILL.md").write_text(text)
    assert main(["new-skill", "again", "--from-calls", *ids]) == 0, capsys.readouterr().err
    lines = (folder / "again" / "again.workflow.yaml").read_text("utf-8").splitlines()
    return [line.split('"name": "')[1].split('"')[0] for line in lines if "args:" in line]


@pytest.fixture(autouse=True)
def own_skills(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", str(folder / "skills"))


def test_the_newest_session_is_taken(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(("old", "a", 9), ("first", "b", 3 * HOUR), ("between", "a", 5), ("failed", "b", 3))
    record(("other", "c", 4), client="somebody")
    record(("second", "b", 2))
    assert made(folder, capsys) == ["first", "second"]


def test_a_session_for_each_call_is_one_conversation(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(("long_ago", "a", HOUR), ("first", "b", 60), ("second", "c", 5))
    record(("third", "d", 1))
    assert made(folder, capsys) == ["first", "second", "third"]


def test_another_hosts_calls_are_no_part_of_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same client made the same kind of calls on the other host moments earlier."""
    record(("a/tried", "a", 9), ("b/first", "b", 5), ("a/too", "c", 4), ("b/second", "d", 1))
    assert made(folder, capsys) == ["b/first", "b/second"]


def test_the_sites_skills_count(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALLBOARD_SKILL_PATHS")
    monkeypatch.setenv("CALLBOARD_SITE", str(folder / "site"))
    (folder / "site").mkdir()
    (folder / "site" / "settings.yaml").write_text("skill_paths: [../skills]\n", "utf-8")
    record(("first", "a", 1))
    assert made(folder, capsys) == ["first"]
    capsys.readouterr()
    assert (main(["lint", "again"]), capsys.readouterr().out) == (0, "")


def test_without_sessions_a_silence_ends_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(("long_ago", None, HOUR), ("first", None, 60), ("second", None, 5))
    assert made(folder, capsys) == ["first", "second"]


def test_calls_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(("first", "a", 9), ("second", "b", 5), ("third", "c", 1))
    assert made(folder, capsys, id_of("third"), id_of("first")) == ["first", "third"]
    assert main(["new-skill", "more", "--from-calls", id_of("first"), "id-gone"]) == 1
    assert "there is no record of call id-gone" in capsys.readouterr().err


def test_without_calls_it_says_what_to_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-skill", "again", "--from-calls"]) == 1
    assert "try --since all, or name calls by id" in capsys.readouterr().err
    assert not (folder / "again").exists()
