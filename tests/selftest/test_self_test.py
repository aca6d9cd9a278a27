"""The self-test, its report, its page and the command that starts it."""

from __future__ import annotations

import asyncio
import io
import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.errors import HostBusy, HostError, PeerError
from callboard.ground.png import Picture, encode
from callboard.host import EXCHANGE, VIEWPORT, FileFormat
from callboard.selftest.checks import CHECKS, SelfCheck
from callboard.selftest.doubles_data import for_doubles
from callboard.selftest.page import page
from callboard.selftest.pictures import figures, why_blank
from callboard.selftest.self_test import impersonal, summary, written
from callboard.selftest.trial import Findings, Trial
from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from serving import Served, served

Shown = pytest.CaptureFixture[str]
QUICK = ("exchange", "primitives", "undo_reports", "captures")


class Viewed(FakeHost):
    """A host with a view that draws one color, and with the artist's own undo."""

    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, VIEWPORT: self, EXCHANGE: self})
        self.acts = {"undo": self._undo, "toolkit": lambda: "Fake 1.0"}

    def _undo(self) -> None:
        self.undo_stack.artist("ctrl+z")

    def capture(self, width: int, height: int) -> bytes:
        return encode(Picture(width, height, bytes([9, 9, 9]) * (width * height)))

    def formats(self) -> list[FileFormat]:
        path = str(Path.home() / "plug-ins" / "fbx.so")
        return [FileFormat("fbx", (), (), missing=f"{path} on {platform.node()} isn't loaded")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


@pytest.fixture
def server() -> Iterator[Served]:
    with served(Viewed, announce=True, skills=True) as running:
        yield running


def run(server: Served, **options: Any) -> Any:
    test = server.app.controls.self_test
    running = test.run(**{"discard": True, "only": QUICK, **options})
    return asyncio.run_coroutine_threadsafe(running, server.app.guest.loop).result(60)


def check(report: Any, name: str) -> Any:
    return next(each for each in report["checks"] if each["name"] == name)


def test_the_report_says_what_works_what_broke_and_what_is_not_there(server: Served) -> None:
    report = run(server)
    assert report["application"] == {"kind": "fake", "name": "Fake Host", "version": "1.0"}
    assert report["toolkit"] == "Fake 1.0"
    assert report["first_act"] is True
    assert [each["name"] for each in report["checks"]] == [each.name for each in CHECKS]
    made = check(report, "primitives")
    assert made["outcome"] == "ok", made
    assert all(each["undone"] for each in made["data"].values())
    (blank,) = check(report, "captures")["faults"]
    assert blank == "viewport, window as it was: every pixel has the color #090909"
    assert check(report, "exchange")["outcome"] == "not offered"
    assert "1 with faults: Pictures of the view" in summary(report)


def test_the_report_holds_no_names_and_no_paths(server: Served) -> None:
    text = json.dumps(run(server))
    assert "isn't loaded" in text
    for personal in (str(Path.home()), platform.node(), "plug-ins"):
        assert personal not in text, personal
    kept = "Driver/ifd, 160x120, glTF 2.0, and/or"
    assert impersonal(kept) == kept
    assert impersonal(r"C:\shots\hero.ma and \\server\jobs") == "[path] and [path]"


def test_a_user_called_like_the_application_doesnt_take_its_name(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.selftest.self_test.Path.home", lambda: Path("/home/Fake"))
    report = run(server, only=("plug_ins",))
    assert report["application"]["name"] == "Fake Host"
    monkeypatch.setattr(platform, "node", lambda: "fake.studio")
    assert impersonal("3ds Max, seen by Fake at fake.studio", "3dsmax 3ds Max") == (
        "3ds Max, seen by [name] at [name]"
    )


def test_a_user_called_like_an_entry_of_the_report_doesnt_take_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("callboard.selftest.self_test.Path.home", lambda: Path("/home/window"))
    report = {"window": True, "checks": [{"data": {"window of window": "window"}}]}
    assert impersonal(report) == {
        "window": True,
        "checks": [{"data": {"[name] of [name]": "[name]"}}],
    }


def test_unsaved_work_is_kept_unless_the_person_agrees(server: Served) -> None:
    server.on_main(lambda: server.host.scene.create("cube", "Mine", {"size": 1.0}))
    with pytest.raises(HostError, match="unsaved work"):
        run(server, discard=False)
    assert server.on_main(server.host.scene.names) == ["/Mine"]
    question = server.on_main(server.app.controls.self_test.question)
    assert "unsaved work, which would be lost" in question
    run(server)
    assert server.on_main(server.host.scene.names) == []


def test_agents_wait_until_it_ends(server: Served) -> None:
    with server.client() as client:
        client.call("scene__create_primitive", {"kind": "cube"})
        assert run(server)["first_act"] is False
        answer = client.call("scene__create_primitive", {"kind": "cube"})
        assert answer["isError"] is False
    server.app.controls.pause()
    run(server)
    assert server.app.dispatcher.paused is True


def test_only_one_runs_at_a_time(server: Served) -> None:
    test, loop = server.app.controls.self_test, server.app.guest.loop
    with server.thread.block():
        first = asyncio.run_coroutine_threadsafe(test.run(discard=True, only=("loop",)), loop)
        with pytest.raises(HostBusy, match="a self-test is running"):
            run(server)
    assert check(first.result(60), "loop")["outcome"] == "ok"


def test_an_application_that_stops_answering_ends_it(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.selftest.trial.PATIENCE", 0.2)
    with server.thread.block("a file dialog"), pytest.raises(HostBusy, match="a file dialog"):
        run(server, discard=False)


def test_the_menus_way_writes_the_report_and_says_where(server: Served) -> None:
    outcome: list[Any] = []
    server.app.controls.self_test.start(lambda *told: outcome.append(told))
    server.thread.host.wait_for_post()
    wait_until(lambda: outcome)
    shown, words = outcome[0]
    assert shown.is_file()
    assert shown.with_suffix(".json").is_file() or list(shown.parent.glob("*.json"))
    assert str(shown) in words


def test_the_report_so_far_is_there_if_the_application_ends(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept: list[Any] = []

    async def read_back(trial: Trial, into: Findings) -> None:
        (file,) = (tmp_path / "home" / "self-tests").glob("*.json")
        kept.append(json.loads(file.read_text("utf-8")))
        assert file.with_suffix(".html").is_file()
        into.good.append("read")

    checks = (
        CHECKS[3],
        SelfCheck("loop", "Loop", "", read_back),
        SelfCheck("menus", "Menus", "", read_back),
    )
    monkeypatch.setattr("callboard.selftest.self_test.CHECKS", checks)
    told: list[Any] = []
    server.app.controls.self_test.start(lambda *outcome: told.append(outcome))
    wait_until(lambda: told)
    during = kept[0]
    assert [each["outcome"] for each in during["checks"]] == ["ok", "fault", "not offered"]
    assert during["checks"][1]["faults"] == ["the application ended during this check"]
    assert during["checks"][2]["absent"][0].startswith("not reached: ")
    assert "3 work" in told[0][1]


def test_what_only_frames_the_checks_may_fail_without_losing_the_report(server: Served) -> None:
    def fail() -> None:
        raise RuntimeError("no such name")

    def new_scene() -> None:
        if next(works, None) is None:
            fail()

    works = iter(("loop", "menus"))
    server.host.acts = {**server.host.acts, "toolkit": fail, "new_scene": new_scene}
    report = run(server, only=("loop", "menus"))
    assert report["toolkit"] == "unknown (RuntimeError: no such name)"
    assert check(report, "loop")["outcome"] == "ok"
    assert check(report, "renderers")["faults"] == [
        "the scene couldn't be emptied afterwards: RuntimeError: no such name"
    ]


def test_a_scene_that_cannot_be_read_counts_as_unsaved(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def info() -> None:
        raise RuntimeError("no such name")

    monkeypatch.setattr(server.host.scene, "info", info)
    test = server.app.controls.self_test
    assert "unsaved work, which would be lost" in server.on_main(test.question)
    with pytest.raises(HostError, match="unsaved work"):
        run(server, discard=False)
    assert run(server)["checks"]


def test_an_unforeseen_error_is_told(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(report: Any) -> str:
        raise RuntimeError("no such name")

    monkeypatch.setattr("callboard.selftest.self_test.CHECKS", ())
    monkeypatch.setattr("callboard.selftest.self_test.summary", fail)
    told: list[Any] = []
    server.app.controls.self_test.start(lambda *outcome: told.append(outcome))
    wait_until(lambda: told)
    assert told == [(None, "The self-test didn't run: RuntimeError: no such name")]


def wait_until(condition: Callable[[], object]) -> None:
    from waiting import until

    until(condition, "the self-test's end", seconds=60)


def test_the_page_shows_faults_first_and_escapes_everything(server: Served) -> None:
    report = run(server)
    check(report, "captures")["faults"].append("<script>alert(1)</script>")
    text = page(report, "a & b")
    assert "<script>" not in text
    assert "a &amp; b" in text
    assert text.index("Pictures of the view") < text.index("Each primitive")


def test_the_command_asks_first_and_writes_both_files(
    server: Served, tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.selftest.self_test.CHECKS", CHECKS[3:5])
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    monkeypatch.chdir(tmp_path)
    assert main(["selftest", "fake"]) == 0
    assert "nothing was started" in capsys.readouterr().err
    server.on_main(lambda: server.host.scene.create("cube", "Mine", {"size": 1.0}))
    assert main(["selftest", "fake", "--yes"]) == 1
    assert "unsaved work" in capsys.readouterr().err
    assert main(["selftest", "fake", "--yes", "--discard", "--out", "reports"]) == 0
    (report,) = Path("reports").glob("callboard-self-test-fake-1.0.json")
    assert (tmp_path / "reports" / "callboard-self-test-fake-1.0.html").is_file()
    assert "2 work" in capsys.readouterr().out
    assert main(["selftest", "--yes", "--discard", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == json.loads(report.read_text()).keys()


def test_a_report_becomes_data_for_the_doubles(
    server: Served, tmp_path: Path, capsys: Shown
) -> None:
    written(run(server), tmp_path)
    (file,) = tmp_path.glob("*.json")
    assert main(["selftest", "--read", str(file)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["source"].startswith("self-test in Fake Host 1.0")
    assert data["primitives"]["torus"]["undone"] is True
    assert data["switches"]["blank_views"] is True
    assert data["switches"]["late_notices"] is False


@pytest.mark.parametrize("wrong", [[], {}, {"self_test": 1}, {"self_test": 2}, "text", None])
def test_a_file_that_is_no_report_is_refused(wrong: Any, tmp_path: Path, capsys: Shown) -> None:
    with pytest.raises(PeerError):
        for_doubles(wrong)
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(wrong), "utf-8")
    assert main(["selftest", "--read", str(file)]) == 1
    assert "report" in capsys.readouterr().err


def test_a_client_may_not_ask_for_it(server: Served) -> None:
    agent = FakeClient(server.app.url, ClientBook().make("agent")[1])
    headers = {"Content-Type": "application/json"}
    answer = agent.send("POST", b'{"discard": true}', headers, path="/v1/selftest")
    assert answer.status == 403
    assert "callboard selftest" in json.loads(answer.body)["detail"]


def test_a_picture_without_anything_is_blank() -> None:
    plain = figures(encode(Picture(4, 2, bytes([7, 7, 7]) * 8)))
    assert plain["commonest"] == "#070707"
    assert plain["alpha"] is None
    assert why_blank(plain)
    assert why_blank(figures(encode(Picture(2, 1, bytes([1, 2, 3, 4, 5, 6]))))) is None
