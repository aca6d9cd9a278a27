"""Sends records to an mcpeye ingest URL."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from callboard.config import ExportTarget
from callboard.records.exporter import NotSent
from callboard.records.model import UNFINISHED, CallRecord

#: Statuses that a retry won't change: the batch is wrong or too large.
_HOPELESS = frozenset({400, 413, 422})


def target_from(environment: Mapping[str, str]) -> ExportTarget | None:
    """Return the target that ``CALLBOARD_EXPORT_URL``, ``…_PROJECT`` and ``…_SECRET`` specify, or
    None if the first isn't set. Raises ValueError, which says what is wrong."""
    url = environment.get("CALLBOARD_EXPORT_URL")
    if not url:
        return None
    project = environment.get("CALLBOARD_EXPORT_PROJECT", "")
    return ExportTarget(url, project, environment.get("CALLBOARD_EXPORT_SECRET"))


class Ingest:
    """The sink for an ingest URL. A change whose end isn't recorded isn't sent."""

    def __init__(self, target: ExportTarget) -> None:
        self._target = target
        self.key, self.batch = target.key, target.batch
        self.every, self.longest_wait = target.every, target.longest_wait

    def send(self, records: list[CallRecord]) -> None:
        events = [record.as_event() for record in records if record.outcome != UNFINISHED]
        if events:
            self._post(events)

    def _post(self, events: list[dict[str, Any]]) -> None:
        body = {"projectId": self._target.project_id, "identity": {}, "events": events}
        headers = {"Content-Type": "application/json"}
        if self._target.secret:
            headers["x-mcpeye-secret"] = self._target.secret
        request = urllib.request.Request(
            self._target.endpoint, json.dumps(body).encode(), headers, method="POST"
        )
        try:
            # Once the answer begins, the batch has arrived; the rest of the answer doesn't matter.
            with (
                _OPENER.open(request, timeout=self._target.timeout) as answer,
                suppress(OSError, http.client.HTTPException),
            ):
                answer.read(65_536)
        except urllib.error.HTTPError as error:
            error.close()
            answered = f"the ingest answered {error.code}"
            raise NotSent(answered, hopeless=error.code in _HOPELESS) from None
        except http.client.HTTPException as error:
            raise NotSent(str(error)) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send records and the secret to an unknown host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)
