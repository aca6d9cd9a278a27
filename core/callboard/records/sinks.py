"""The destinations that the ``records_to`` setting can name: a file of JSON lines, a syslog, or an
OpenTelemetry collector. Most servers send records nowhere and never load this module."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from urllib.request import url2pathname

from callboard.config import ExportTarget, McpHttpConfig
from callboard.ground.login_name import login_name
from callboard.ground.regular_file import refuse_special
from callboard.records.exporter import Exporter, Sink
from callboard.records.ingest import Ingest
from callboard.records.model import CallRecord
from callboard.transport.machine import this_machine

log = logging.getLogger(__name__)

#: The forms of an address, for messages.
FORMS = (
    "file:///PATH, syslog:, syslog://HOST:PORT (UDP), syslog+tcp://HOST:PORT, or "
    "otlp:http://HOST:4318"
)
#: The facility local0 with the severities *informational* and *notice*.
_INFO, _NOTICE = 134, 133
#: Maximum number of bytes in a message to a syslog, which may cut longer ones. If a message is too
#: long, these fields are left out, in this order.
_MESSAGE = 7_000
_LEFT_OUT = ("result", "arguments", "error_message", "intent")
#: The sockets of the machine's own syslog, on Linux and on macOS.
_OWN = ("/dev/log", "/var/run/syslog")
_PORTS = {"syslog": 514, "syslog+tcp": 601}
#: Maximum number of seconds to wait for a connection.
_PATIENCE = 10.0


def exporters(
    folder: Path, config: McpHttpConfig, target: ExportTarget | None
) -> Iterator[Exporter]:
    """Yield the exporters of the records in ``folder``. An address that can't be used is
    reported in the log."""
    if target is not None:
        yield Exporter(folder, Ingest(target))
    for address in config.records_to:
        try:
            yield Exporter(folder, sink_of(address))
        except ValueError as error:
            log.warning("records are not sent: %s (see the records_to setting)", error)


def sink_of(address: str) -> Sink:
    """Return the sink of an address in ``records_to``. Raises ValueError, which says what is
    wrong."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return FileSink(address, parts)
    if parts.scheme in _PORTS:
        return SyslogSink(address, parts)
    if parts.scheme == "otlp":
        from callboard.records.otlp import OtlpSink  # This import needs additional packages.

        return OtlpSink(address)
    raise ValueError(f"'{address[:200]}' isn't an address for records; write {FORMS}")


def json_of(record: CallRecord, leave_out: Sequence[str] = ()) -> str:
    """Return a record as one line of ASCII JSON, which begins with its time in UTC."""
    when = datetime.fromtimestamp(record.started, timezone.utc)
    fields = {key: value for key, value in record.as_trace().items() if key not in leave_out}
    left = {"left_out": list(leave_out)} if leave_out else {}
    return json.dumps({"time": when.isoformat(timespec="milliseconds"), **fields, **left})


class FileSink:
    """Appends a line of JSON for each record to a file. ``{user}`` and ``{machine}`` in its path
    stand for the names of this user and this machine, so that each user and machine can have a
    separate file."""

    batch, every, longest_wait = 500, 2.0, 60.0

    def __init__(self, address: str, parts: SplitResult) -> None:
        if parts.netloc not in ("", "localhost") and os.name != "nt":
            raise ValueError(f"'{address[:200]}' names a host; write file:///PATH")
        shared = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
        written = url2pathname(shared + parts.path)
        names = {"{user}": login_name(), "{machine}": this_machine()}
        for place, name in names.items():
            written = written.replace(place, re.sub(r"[^A-Za-z0-9._-]+", "-", name))
        self._path = Path(written)
        if not self._path.is_absolute():
            raise ValueError(f"'{address[:200]}' has no absolute path; write file:///PATH")
        self.key = f"file {self._path}"

    def send(self, records: list[CallRecord]) -> None:
        refuse_special(self._path)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = "".join(f"{json_of(record)}\n" for record in records).encode("ascii")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:
                # The next attempt would repeat a partly written batch.
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


class SyslogSink:
    """Sends a message for each record to the syslog of this machine, or, by RFC 5424, to that of
    another machine."""

    batch, every, longest_wait = 100, 2.0, 60.0

    def __init__(self, address: str, parts: SplitResult) -> None:
        self.key = address
        self._tcp = parts.scheme == "syslog+tcp"
        self._remote = None
        if parts.hostname:
            self._remote = parts.hostname, parts.port or _PORTS[parts.scheme]
        elif self._tcp or sys.platform == "win32":
            raise ValueError(f"'{address[:200]}' names no host; write {parts.scheme}://HOST:PORT")

    def send(self, records: list[CallRecord]) -> None:
        with closing(self._socket()) as connection:
            for record in records:
                message = self._message(record)
                if self._tcp:
                    # Each message begins with its length (RFC 6587, Octet Counting).
                    message = b"%d %b" % (len(message), message)
                connection.sendall(message)

    def _socket(self) -> socket.socket:
        if self._remote is None:
            return _own_syslog()
        if self._tcp:
            return socket.create_connection(self._remote, _PATIENCE)
        family, *_, there = socket.getaddrinfo(*self._remote, type=socket.SOCK_DGRAM)[0]
        connection = socket.socket(family, socket.SOCK_DGRAM)
        connection.connect(there)
        return connection

    def _message(self, record: CallRecord) -> bytes:
        priority = _NOTICE if record.is_error else _INFO
        text = json_of(record)
        for count in range(1, len(_LEFT_OUT) + 1):
            if len(text) <= _MESSAGE:
                break
            text = json_of(record, _LEFT_OUT[:count])
        if self._remote is None:
            head = f"<{priority}>callboard[{os.getpid()}]: "
        else:
            when = datetime.fromtimestamp(record.started, timezone.utc)
            stamp = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            host = socket.gethostname() or "-"
            head = f"<{priority}>1 {stamp} {host} callboard {os.getpid()} call - "
        return (head + text).encode("ascii", "replace")


def _own_syslog() -> socket.socket:
    if sys.platform == "win32":
        raise OSError("Windows has no syslog")
    for path in _OWN:
        if Path(path).exists():
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            connection.settimeout(_PATIENCE)
            try:
                connection.connect(path)
            except BaseException:
                connection.close()
                raise
            return connection
    raise OSError("no syslog is running on this machine")
