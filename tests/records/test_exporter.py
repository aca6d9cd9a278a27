"""Each record reaches an ingest once and in order, even if the ingest fails, hangs and restarts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from call_records import a_call

from callboard.clients.book import ClientBook
from callboard.config import ExportTarget
from callboard.records.exporter import Exporter
from callboard.records.ingest import Ingest as IngestSink
from callboard.records.store import Store
from callboard_testing.fake_client import FakeClient
from serving import served
from waiting import until


class Ingest:
    """A local ingest. Each of the next requests gets one of the ``answers``, and later requests get
    200. An answer is a status, ``hang`` (never answers), ``drop`` (closes), or the bytes to send.
    The ingest stores the records that it answers with 200."""

    def __init__(self) -> None:
        self.answers: list[int | str | bytes] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stored: list[str] = []
        self.poison: str | None = None
        self.changed = threading.Condition()
        self._release = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._release.clear()
        ingest = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                ingest.serve(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,)).start()

    def stop(self) -> None:
        if self._server is not None:
            self._release.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        ids = [event["callId"] for event in body["events"]]
        with self.changed:
            answer: int | str | bytes = self.answers.pop(0) if self.answers else 200
            if self.poison in ids:
                answer = 422
            self.requests.append(body)
            self.headers.append(
                {"path": handler.path, **{k.lower(): v for k, v in handler.headers.items()}}
            )
            if answer == 200:
                self.stored += ids
            self.changed.notify_all()
        if answer == "hang":
            self._release.wait(30)
        if isinstance(answer, bytes):
            handler.wfile.write(answer)
        elif isinstance(answer, int):
            handler.send_response(answer)
            if answer == 302:
                handler.send_header("Location", f"{self.url}/elsewhere")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        handler.close_connection = True

    def wait(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, 20), (len(self.requests), len(self.stored))


@pytest.fixture
def ingest() -> Iterator[Ingest]:
    server = Ingest()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    kept = Store(tmp_path / "records", results=True)
    kept.open()
    assert kept.flush()
    yield kept
    kept.close()


def target(ingest: Ingest, **changes: Any) -> ExportTarget:
    fields: dict[str, Any] = {"batch": 10, "every": 0.02, "timeout": 0.5, "longest_wait": 0.1}
    return ExportTarget(ingest.url, "project", "s3cret", **{**fields, **changes})


@pytest.fixture
def exporter(store: Store, ingest: Ingest) -> Iterator[Exporter]:
    sends = Exporter(store.folder, IngestSink(target(ingest)))
    yield sends
    sends.close()


def record(store: Store, count: int, **changes: Any) -> list[str]:
    calls = [a_call(**changes) for _ in range(count)]
    for call in calls:
        store.record(call)
    assert store.flush()
    return [call.call_id for call in calls]


def test_events_have_the_shape_of_the_ingest(
    store: Store, ingest: Ingest, exporter: Exporter
) -> None:
    exporter.start()
    started = time.time()
    store.record(a_call(started=started, result={"a": 1}, intent="wants it"))
    store.record(a_call(outcome="error", error_message="kaputt", result={"a": 1}))
    assert store.flush()
    ingest.wait(lambda: len(ingest.stored) == 2)
    body = ingest.requests[0]
    first, second = [event for request in ingest.requests for event in request["events"]]
    assert {key: value for key, value in body.items() if key != "events"} == {
        "projectId": "project",
        "identity": {},
    }
    assert {key: value for key, value in first.items() if key != "callId"} == {
        "toolName": "scene__get_object",
        "arguments": {"name": "sphere1"},
        "isError": False,
        "timestamp": round(started * 1000),
        "durationMs": 1.5,
        "result": {"a": 1},
        "intent": "wants it",
        "intentSource": "mcpeye",
    }
    assert second["isError"] is True
    assert second["errorMessage"] == "kaputt"
    assert "result" not in second
    assert ingest.headers[0]["path"] == "/ingest"
    assert ingest.headers[0]["x-mcpeye-secret"] == "s3cret"


def test_what_was_recorded_before_is_not_sent(store: Store, ingest: Ingest) -> None:
    record(store, 5)
    exporter = Exporter(store.folder, IngestSink(target(ingest)))
    exporter.start()
    new = record(store, 25)
    ingest.wait(lambda: len(ingest.stored) >= 25)
    exporter.close()
    assert ingest.stored == new
    assert max(len(request["events"]) for request in ingest.requests) <= 10


def test_failing_hanging_and_dropping_lose_and_double_nothing(
    store: Store, ingest: Ingest, exporter: Exporter
) -> None:
    ingest.answers = [500, "hang", "drop", 429, 503, 200, 401, "hang", 302]
    exporter.start()
    ids = record(store, 45)
    ingest.wait(lambda: len(ingest.stored) >= 45)
    assert ingest.stored == ids
    assert all(headers["path"] == "/ingest" for headers in ingest.headers)


@pytest.mark.parametrize(
    "answer",
    [
        b"hello there\r\n\r\n",
        b"HTTP/1.1 200 " + b"a" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 503 x\r\n" + b"a: b\r\n" * 200 + b"\r\n",
    ],
    ids=["no HTTP", "endless line", "endless headers"],
)
def test_an_answer_that_is_no_http_is_a_failure_like_others(
    store: Store, ingest: Ingest, exporter: Exporter, answer: bytes
) -> None:
    ingest.answers = [answer, answer]
    exporter.start()
    ids = record(store, 15)
    ingest.wait(lambda: len(ingest.stored) >= 15)
    assert ingest.stored == ids


def test_a_batch_that_was_taken_is_not_sent_again_for_its_answers_body(
    store: Store, ingest: Ingest, exporter: Exporter
) -> None:
    ingest.answers = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"]
    exporter.start()
    [first] = record(store, 1)
    ingest.wait(lambda: len(ingest.requests) == 1)
    [last] = record(store, 1)
    ingest.wait(lambda: last in ingest.stored)
    sent = [event["callId"] for request in ingest.requests for event in request["events"]]
    assert sent == [first, last]


def test_an_ingest_that_restarts_gets_the_rest(
    store: Store, ingest: Ingest, exporter: Exporter
) -> None:
    exporter.start()
    ids = record(store, 15)
    ingest.wait(lambda: len(ingest.stored) == 15)
    ingest.stop()
    ids += record(store, 15)
    until(lambda: "failed" in exporter.status, lambda: f"a failure, not {exporter.status!r}")
    assert "trying again" in exporter.status
    ingest.start()
    ingest.wait(lambda: len(ingest.stored) >= 30)
    assert ingest.stored == ids


def test_an_exporter_that_restarts_goes_on_where_it_was(store: Store, ingest: Ingest) -> None:
    ids: list[str] = []
    for round_ in range(4):
        ingest.answers = [500] if round_ % 2 else []
        exporter = Exporter(store.folder, IngestSink(target(ingest)))
        exporter.start()
        ids += record(store, 13)
        wanted = len(ids)
        ingest.wait(lambda wanted=wanted: len(ingest.stored) >= wanted)  # type: ignore[misc]
        exporter.close()
        ids += record(store, 7)  # No ingest is running now.
    assert ingest.stored == ids[: len(ingest.stored)]
    assert len(ingest.stored) == len(ids) - 7


def test_two_exporters_on_one_folder_send_each_record_once(store: Store, ingest: Ingest) -> None:
    exporters = [Exporter(store.folder, IngestSink(target(ingest))) for _ in range(2)]
    for exporter in exporters:
        exporter.start()
    ids = record(store, 60)
    ingest.wait(lambda: len(ingest.stored) >= 60)
    for exporter in exporters:
        exporter.close()
    assert ingest.stored == ids


def test_a_record_that_they_refuse_for_good_does_not_hold_up_the_others(
    store: Store, ingest: Ingest, exporter: Exporter
) -> None:
    ids = [a_call() for _ in range(20)]
    ingest.poison = ids[7].call_id
    exporter.start()
    for call in ids:
        store.record(call)
    ingest.wait(lambda: len(ingest.stored) >= 19)
    assert ingest.stored == [c.call_id for c in ids if c.call_id != ingest.poison]


def test_nothing_recorded_yet_is_no_error(tmp_path: Path, ingest: Ingest) -> None:
    exporter = Exporter(tmp_path / "records", IngestSink(target(ingest)))
    exporter.start()
    store = Store(tmp_path / "records")
    store.open()
    ids = record(store, 3)
    ingest.wait(lambda: len(ingest.stored) >= 3)
    exporter.close()
    store.close()
    assert ingest.stored == ids
    assert exporter.status == "stopped"


@pytest.mark.parametrize("url", ["", "ftp://x/ingest", "file:///etc/passwd", "http://", "x"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="ingest URL"):
        ExportTarget(url, "project")


@pytest.mark.parametrize("url", ["http://x:99999", "http://x/a b", "http://x/\u00e9", "http://x\n"])
def test_a_url_that_no_request_can_carry_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"port|Port|ingest URL"):
        ExportTarget(url, "project")


@pytest.mark.slow
def test_a_server_sends_what_it_records_where_it_is_configured(
    ingest: Ingest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    monkeypatch.setenv("CALLBOARD_EXPORT_URL", ingest.url)
    monkeypatch.setenv("CALLBOARD_EXPORT_PROJECT", "from the environment")
    monkeypatch.setenv("CALLBOARD_EXPORT_SECRET", "s3cret")
    with served(records=True) as running, running.client() as client:
        running.tool("say", lambda: {"said": "hello"})
        client.call("say")
        ingest.wait(lambda: len(ingest.stored) == 1)
    assert ingest.requests[0]["projectId"] == "from the environment"
    assert ingest.requests[0]["events"][0]["result"] == {"said": "hello"}
    assert ingest.headers[0]["x-mcpeye-secret"] == "s3cret"
    monkeypatch.setenv("CALLBOARD_EXPORT_URL", "no URL")
    with served(records=True, export=target(ingest)) as running, running.client() as client:
        running.tool("say", lambda: {"said": "again"})
        client.call("say")
        ingest.wait(lambda: len(ingest.stored) == 2)
    assert ingest.requests[-1]["projectId"] == "project"


def test_a_server_that_is_told_nonsense_runs_and_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    monkeypatch.setenv("CALLBOARD_EXPORT_URL", "ftp://x")
    with served(records=True) as running, running.client() as client:
        running.tool("say", lambda: {"said": "hello"})
        assert client.call("say")["structuredContent"] == {"said": "hello"}
    assert "records are not sent: the ingest URL must begin with http" in caplog.text


@pytest.mark.parametrize("secret", ["\u20ac", "a\r\nX: y"])
def test_a_secret_that_no_header_can_carry_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="secret") as refused:
        ExportTarget("http://x.example", "project", secret)
    assert secret not in str(refused.value)


def test_the_secret_is_not_shown() -> None:
    assert "s3cret" not in repr(ExportTarget("http://x.example", "project", "s3cret"))


def test_a_server_never_records_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the form of the server's own token or of its clients' tokens shows that they are
    secret."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    _, theirs = ClientBook().make("one")
    with served(records=True) as running, FakeClient(running.app.url, theirs) as client:
        own, records = running.app.token, running.app.records
        assert own is not None
        assert records is not None
        running.tool("say", lambda text: {"said": text}, {"type": "object"})
        client.call("say", {"text": f"the files say {own} and {theirs}"})
        (call,) = records.reader().recent().calls
    assert call.tool == "say"
    assert own not in repr(call)
    assert theirs not in repr(call)
