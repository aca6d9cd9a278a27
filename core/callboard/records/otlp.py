"""Sends records to an OpenTelemetry collector, each as a span, with OpenTelemetry's own exporter.

It needs the ``otlp`` extra. The exporter reads the usual environment variables, such as
``OTEL_EXPORTER_OTLP_HEADERS``.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from callboard.host_kit.headless import pip_install
from callboard.protocol.headers import is_trace
from callboard.records.exporter import NotSent
from callboard.records.model import UNFINISHED, CallRecord

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

#: The attributes of a span, by the record's field.
_ATTRIBUTES = {
    "tool": "gen_ai.tool.name",
    "call_id": "gen_ai.tool.call.id",
    "user": "user.name",
    "machine": "host.name",
    "session": "session.id",
    "outcome": "callboard.outcome",
    "app": "callboard.app",
    "scene": "callboard.scene",
    "project": "callboard.project",
    "client": "callboard.client",
    "client_name": "callboard.client_name",
    "undo_id": "callboard.undo_id",
    "intent": "callboard.intent",
}


class OtlpSink:
    """The sink for a collector. ``/v1/traces`` is added to an address that has no path. A change
    whose end isn't recorded isn't sent, because a span must have an end."""

    batch, every, longest_wait = 100, 2.0, 300.0

    def __init__(self, address: str) -> None:
        url = address.removeprefix("otlp:")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"'{address[:200]}' isn't a collector's address; write otlp:http://HOST:4318"
            )
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
        except ImportError as error:
            raise ValueError(
                f"otlp: needs more packages ({error}): {pip_install('otlp')}"
            ) from None
        self.key = address
        endpoint = url if parts.path.strip("/") else f"{url.rstrip('/')}/v1/traces"
        self._exporter = OTLPSpanExporter(endpoint=endpoint)
        self._resource = Resource.create({"service.name": "callboard"})

    def send(self, records: list[CallRecord]) -> None:
        from opentelemetry.sdk.trace.export import SpanExportResult

        spans = [self._span(record) for record in records if record.outcome != UNFINISHED]
        if spans and self._exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise NotSent("the collector didn't accept the spans")

    def _span(self, record: CallRecord) -> ReadableSpan:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
        from opentelemetry.trace.status import Status, StatusCode

        sampled = TraceFlags(TraceFlags.SAMPLED)
        # The ids are derived from the call's id, so a span that is sent again stays the same span.
        digest = sha256(record.call_id.encode()).digest()
        trace, parent = int.from_bytes(digest[:16], "big"), None
        if record.trace and is_trace(record.trace):
            _, named, span, _ = record.trace.split("-")
            trace = int(named, 16)
            parent = SpanContext(trace, int(span, 16), True, sampled)
        fields = record._asdict()
        attributes = {name: fields[key] for key, name in _ATTRIBUTES.items() if fields[key]}
        if record.arguments is not None:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(record.arguments)
        start = int(record.started * 1e9)
        own = int.from_bytes(digest[16:24], "big") or 1
        return ReadableSpan(
            name=f"execute_tool {record.tool}",
            context=SpanContext(trace, own, False, sampled),
            parent=parent,
            resource=self._resource,
            attributes=attributes,
            kind=SpanKind.SERVER,
            status=Status(StatusCode.ERROR, record.error_message or record.outcome)
            if record.is_error
            else Status(StatusCode.OK),
            start_time=start,
            end_time=start + int(record.duration_ms * 1e6),
        )
