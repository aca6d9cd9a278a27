"""Records reach a file, a syslog and a collector as their receivers read them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from call_records import a_call

from callboard.ground.login_name import login_name
from callboard.records.exporter import Exporter
from callboard.records.model import CallRecord
from callboard.records.sinks import sink_of
from callboard.records.store import Store
from needed import missing, needs
from waiting import until

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def calls() -> list[CallRecord]:
    return [
        a_call(started=1_800_000_000.5, user="ada", machine="ws12", trace=TRACE),
        a_call(outcome="error", error_message="Würfel\nnicht da", arguments={"name": "Würfel\x1b"}),
    ]


def test_each_user_has_a_file_of_lines(tmp_path: Path, calls: list[CallRecord]) -> None:
    address = f"{(tmp_path / 'logs').as_uri()}/calls of {{user}}.jsonl"
    sink = sink_of(address)
    sink.send(calls[:1])
    sink.send(calls[1:])
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name == f"calls of {login_name()}.jsonl"
    first, second = map(json.loads, file.read_text("ascii").splitlines())
    assert first["time"] == "2027-01-15T08:00:00.500+00:00"
    assert (first["user"], first["machine"], first["trace"]) == ("ada", "ws12", TRACE)
    assert second["error_message"] == "Würfel\nnicht da"


def test_a_server_sends_what_is_recorded_after_its_start(
    tmp_path: Path, calls: list[CallRecord]
) -> None:
    store = Store(tmp_path / "records")
    store.open()
    file = tmp_path / "calls.jsonl"
    exporter = Exporter(store.folder, sink_of(file.as_uri()))
    exporter.start()
    until(lambda: (tmp_path / "records" / "calls.db").exists() and store.flush(), "the database")
    late = a_call()
    store.record(late)
    assert store.flush()
    until(lambda: file.exists() and late.call_id in file.read_text("ascii"), "the line")
    exporter.close()
    store.close()


@pytest.fixture
def syslog() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(20)
        yield server


def test_a_syslog_gets_messages_that_it_does_not_cut(
    syslog: socket.socket, calls: list[CallRecord]
) -> None:
    sink = sink_of(f"syslog://127.0.0.1:{syslog.getsockname()[1]}")
    sink.send([*calls, a_call(call_id="long", arguments={"text": "x" * 30_000})])
    first, second, third = (syslog.recv(65_536).decode("ascii") for _ in range(3))
    head, _, body = first.partition(" - ")
    assert head.startswith("<134>1 2027-01-15T08:00:00.500Z ")
    assert " callboard " in head
    assert json.loads(body)["user"] == "ada"
    assert second.startswith("<133>1 ")
    assert not {"\n", "\x1b"} & set(second)
    cut = json.loads(third.partition(" - ")[2])
    assert (cut["call_id"], cut["left_out"]) == ("long", ["result", "arguments"])
    assert len(third) < 8_000


def test_over_tcp_each_message_begins_with_its_length(calls: list[CallRecord]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        sink_of(f"syslog+tcp://127.0.0.1:{server.getsockname()[1]}").send(calls)
        connection, _ = server.accept()
        with connection:
            data = b"".join(iter(lambda: connection.recv(65_536), b""))
    messages = []
    while data:
        length, _, rest = data.partition(b" ")
        messages.append(rest[: int(length)])
        data = rest[int(length) :]
    assert [message[:5] for message in messages] == [b"<134>", b"<133>"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("calls.jsonl", "isn't an address for records"),
        pytest.param(
            *("file://nas/calls.jsonl", "names a host"),
            marks=pytest.mark.skipif(os.name == "nt", reason="Windows has such paths"),
        ),
        ("syslog+tcp:", "names no host"),
        ("otlp:ftp://x", "otlp"),
    ],
)
def test_an_address_that_cannot_be_used_says_so(address: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        sink_of(address)


@pytest.mark.skipif(bool(missing("opentelemetry.exporter")), reason="needs the extra otlp")
def test_a_collector_gets_a_span_below_the_callers(calls: list[CallRecord]) -> None:
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        unfinished = a_call(outcome="unfinished")
        sink_of(f"otlp:http://127.0.0.1:{server.server_port}").send([*calls, unfinished])
        server.shutdown()
    (body,) = bodies
    request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    first, second = request.resource_spans[0].scope_spans[0].spans
    assert first.trace_id.hex() == TRACE.split("-")[1]
    assert first.parent_span_id.hex() == TRACE.split("-")[2]
    values = {each.key: each.value.string_value for each in first.attributes}
    assert (values["user.name"], values["host.name"]) == ("ada", "ws12")
    assert second.status.code == 2


@needs("opentelemetry.exporter", "rotel")
def test_so_does_a_real_collector(tmp_path: Path, calls: list[CallRecord]) -> None:
    program = Path(str(import_module("rotel").__file__)).with_name("rotel-agent")
    log = tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as other:
        here, unused = one.getsockname()[1], other.getsockname()[1]
    words = ["--otlp-http-endpoint", f"127.0.0.1:{here}"]
    words += ["--otlp-grpc-endpoint", f"127.0.0.1:{unused}", "--exporter", "blackhole"]
    words += ["--debug-log", "traces", "--debug-log-verbosity", "detailed"]
    with log.open("wb") as told:
        collector = subprocess.Popen([program, "start", *words], stdout=told, stderr=told)

    def listens() -> bool:
        with closing(socket.socket()) as client:
            return client.connect_ex(("127.0.0.1", here)) == 0

    try:
        until(listens, "the collector to listen")
        sink_of(f"otlp:http://127.0.0.1:{here}").send(calls)
        until(lambda: log.read_text().count("Name           : ") == 2, "both spans")
    finally:
        collector.terminate()
        collector.wait()
    shown = {line.strip().removeprefix("-> ") for line in log.read_text().splitlines()}
    _, trace, parent, _ = TRACE.split("-")
    assert {
        f"Trace ID       : {trace}",
        f"Parent ID      : {parent}",
        "user.name: Str(ada)",
        "host.name: Str(ws12)",
        "Status code    : STATUS_CODE_ERROR",
    } <= shown
