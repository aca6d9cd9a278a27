"""``callboard report`` in its three forms, over records that contain an attacker's texts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from uuid import uuid4

import pytest

from callboard.records.model import CallRecord
from callboard.records.sinks import json_of
from callboard.records.store import Store, default_folder
from callboard_programs.cli import main

ODD = "export \ud800 \x1b[31mred\nas PDF"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return tmp_path


def record(tool: str, **changes: object) -> CallRecord:
    outcome = "error" if "error_message" in changes else "ok"
    return CallRecord(str(uuid4()), time.time(), 1.0, tool, outcome, **changes)  # type: ignore[arg-type]


@pytest.fixture
def records() -> None:
    store = Store()
    store.open()
    arguments = {"capability": ODD, "context": ODD}
    store.record(record("mcpeye_request_capability", arguments=arguments, client_name=ODD))
    store.record(record("scene__info", error_message=ODD))
    assert store.flush()
    store.close()


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_every_form_is_made_of_what_can_be_shown(
    form: str, home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    page = home / "page.html"
    arguments = {"text": (), "json": ("--json",), "html": ("--html", str(page))}[form]
    assert main(["report", *arguments]) == 0
    shown = capfdbinary.readouterr().out.decode("utf-8")
    text = page.read_text("utf-8") if form == "html" else shown
    if form == "json":
        text = json.loads(shown)["topMissingCapabilities"][0]["capability"]
    assert "export � �[31mred as PDF" in text
    assert "\x1b" not in text


@pytest.mark.usefixtures("records")
def test_the_text_tells_the_calls_of_each_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 0
    first, second, *others = capsys.readouterr().out.splitlines()
    assert first == "2 calls in 2 sessions"
    assert second.split()[1:] == ["2", "1", "failed"]
    assert ["scene__info", "1"] in [line.split()[:2] for line in others]


def test_a_page_that_cannot_be_written_is_an_error_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--html", str(home / "none" / "page.html")]) == 1
    assert "can't be written: No such file or directory" in capsys.readouterr().err


def test_what_can_not_be_listed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", "--calls", "501"])
    assert ended.value.code == 2
    assert "501 calls are too many; the maximum is 500" in capsys.readouterr().err
    assert main(["report", "--calls", "500"]) == 0


def test_a_damaged_database_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    default_folder().mkdir(parents=True)
    (default_folder() / "calls.db").write_bytes(b"garbage" * 1000)
    assert main(["report"]) == 1
    assert capsys.readouterr().err.startswith("callboard: the records can't be read: ")


def test_the_last_calls_are_listed_with_the_ids_that_others_take(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = Store()
    store.open()
    calls = [record("scene__info", arguments={"name": f"{n}\x1b[31m" * 40}) for n in range(3)]
    for number, call in enumerate(calls):
        store.record(call._replace(started=call.started + number - 10))
    store.close()
    assert main(["report", "--calls", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [calls[n].call_id in line for n, line in zip((1, 2), lines, strict=True)] == [True] * 2
    assert "\x1b" not in "".join(lines)
    assert main(["report", "--calls", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["call_id"] for one in told] == [call.call_id for call in calls]
    assert main(["report", "--call", told[0]["call_id"]]) == 0


@pytest.mark.usefixtures("records")
def test_a_person_merges_and_splits_rows(capsys: pytest.CaptureFixture[str]) -> None:
    store = Store()
    store.open()
    for capability in ("scatter rocks", "distribute stones"):
        store.record(record("mcpeye_request_capability", arguments={"capability": capability}))
    assert store.flush()
    store.close()

    def shown() -> list[str]:
        capsys.readouterr()
        assert main(["report", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["topMissingCapabilities"]
        return [row["capability"] for row in rows if "red" not in row["capability"]]

    assert sorted(shown()) == ["distribute stones", "scatter rocks"]
    assert main(["report", "--merge", "scatter rocks", "distribute stones"]) == 0
    assert "one row from now on" in capsys.readouterr().out
    assert len(shown()) == 1
    assert main(["report", "--split", "distribute stones"]) == 0
    assert len(shown()) == 2
    assert main(["report", "--merge", "scatter rocks"]) == 1
    assert "two or more wordings" in capsys.readouterr().err


def test_one_report_on_many_counts_each_call_and_shows_no_secret(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "sk-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    places = []
    for user, machine in (("ada", "ws1"), ("bob", "ws2")):
        store = Store(home / user / ".local/share/callboard/records")
        store.open()
        who = {"user": user, "machine": machine, "client": "cursor"}
        store.record(record("scene__info", **who))
        store.record(record("scene__info", **who)._replace(outcome="unfinished"))
        store.record(record(secret, error_message=f"unknown tool '{secret}'", **who))
        assert store.flush()
        store.close()
        places.append(str(home / user))
    lines = home / "carl.jsonl"
    of_carl = {"user": "carl", "machine": "ws1", "client": secret}
    lines.write_text(f"{json_of(record('scene__info', **of_carl))}\nno record\n")
    (home / "empty").mkdir()
    assert main(["report", "--json", "--from", *places, str(lines), str(home / "empty")]) == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["calls"], report["failed"], report["unfinished"]) == (7, 2, 2)
    assert {one["name"]: one["calls"] for one in report["byUser"]} == {
        "ada": 3,
        "bob": 3,
        "carl": 1,
    }
    assert {one["name"]: one["users"] for one in report["byWorkstation"]} == {"ws1": 2, "ws2": 1}
    assert {one["name"] for one in report["byClient"]} == {"cursor", "[redacted]"}
    assert {one["name"]: one["calls"] for one in report["byTool"]} == {
        "scene__info": 5,
        "no such tool": 2,
    }
    assert secret not in shown.out
    assert f"{home / 'empty'}: there are no records in it" in shown.err
    assert main(["report", "--from", *places]) == 0
    text = capsys.readouterr().out
    assert "6 calls in 2 of 2 places" in text
    assert secret not in text
