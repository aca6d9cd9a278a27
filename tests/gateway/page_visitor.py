"""Sends the requests of a browser that has the page open, as plain HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from gateway_thread import RunningGateway

from callboard.protocol.events import EventReader
from callboard_testing.fake_host import DEADLINE

#: Status, headers by their names in lower case, body.
Got = tuple[int, dict[str, str], bytes]


def link_of(gateway: RunningGateway) -> str:
    """Request a new link to the page, as the command line does, and return the link."""
    asked = {"Authorization": f"Bearer {gateway.token}"}
    status, _, body = request(gateway.url, "POST", "/page/link", asked)
    assert status == 200, body
    return str(json.loads(body)["url"])


def request(
    url: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
) -> Got:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=DEADLINE)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


class Visitor:
    """A browser that entered through a link."""

    def __init__(self, gateway: RunningGateway) -> None:
        self.url = gateway.url.removesuffix("/mcp")
        parts = urlsplit(link_of(gateway))
        status, headers, body = request(self.url, "GET", f"{parts.path}?{parts.query}", {})
        assert status == 200
        self.set_cookie = headers["set-cookie"]
        self.cookie = {"Cookie": self.set_cookie.partition(";")[0]}
        self.secret = body.decode().partition("/#")[2].partition('"')[0]
        self.headers = {**self.cookie, "Callboard-Page": self.secret}

    def get(self, path: str) -> Any:
        status, _, body = request(self.url, "GET", path, self.headers)
        assert status == 200, body
        return json.loads(body)

    def act(self, what: str, id: str, told: Any = None) -> tuple[int, Any]:
        """Request an action of the instance that ``told`` describes, or of the gateway itself."""
        about = {}
        if told is not None:
            about = {"instance": told["name"], "instance_id": told["about"]["id"]}
        body = json.dumps({"do": what, "id": id, **about}).encode()
        headers = {**self.headers, "Origin": self.url, "Content-Type": "application/json"}
        status, _, answer = request(self.url, "POST", "/page/act", headers, body)
        return status, json.loads(answer)

    @contextmanager
    def listening(self) -> Iterator[Heard]:
        connection = http.client.HTTPConnection(
            "127.0.0.1", urlsplit(self.url).port, timeout=DEADLINE
        )
        try:
            connection.request("GET", "/page/events", headers=self.headers)
            answer = connection.getresponse()
            assert answer.status == 200
            yield Heard(answer)
        finally:
            connection.close()


class Heard:
    """The events that the page receives."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._answer = answer
        self._reader = EventReader()
        #: The last event of each instance.
        self.instances: dict[str, Any] = {}
        #: The clients on other machines that are asking to connect.
        self.newcomers: list[Any] = []

    def until(self, name: str, fits: Callable[[Any], object]) -> Any:
        """Return the instance's first message that fits, starting with the last one received."""
        while not (name in self.instances and fits(self.instances[name])):
            self._hear()
        return self.instances[name]

    def newcomer(self) -> Any:
        """Return the first client that asks to connect."""
        while not self.newcomers:
            self._hear()
        return self.newcomers[0]

    def nobody_asks(self) -> None:
        while self.newcomers:
            self._hear()

    def _hear(self) -> None:
        for data in self._reader.feed(self._answer.read1()):
            message = json.loads(data)
            if message["type"] == "instance":
                self.instances[message["name"]] = message
            elif message["type"] == "newcomers":
                self.newcomers = message["newcomers"]

    def status(self, name: str, fits: Callable[[Any], object]) -> Any:
        """Return the first message with a status from the instance itself for which ``fits`` is
        true."""
        return self.until(name, lambda told: told["status"] and fits(told["status"]))
