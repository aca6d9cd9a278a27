"""A stand-in for Flamenco's manager: it accepts jobs in the form of ``SubmittedJob`` in Flamenco's
API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_NEEDED = {"name", "type", "priority", "submitter_platform"}
_KNOWN = _NEEDED | {"type_etag", "settings", "metadata", "storage", "worker_tag", "initial_status"}


class _Manager(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fits = (
            self.path == "/api/v3/jobs"
            and self.headers["Content-Type"] == "application/json"
            and body.keys() >= _NEEDED
            and body.keys() <= _KNOWN
        )
        more = {"id": "4a7c", "status": "queued"} if fits else {"code": 400, "message": "bad"}
        answer = json.dumps({**body, **more} if fits else more).encode() + b"\n"
        self.send_response(200 if fits else 400)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def flamenco_manager() -> Iterator[str]:
    """Yield the manager's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Manager) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
