"""Finds the server at a given address, on this machine or another one."""

from __future__ import annotations

from urllib.parse import urlsplit

from callboard.errors import PeerError
from callboard.transport.instances import Instance
from callboard_programs.client.http import Endpoint
from callboard_programs.relay.finder import OneServerFinder
from callboard_programs.relay.last_known import GATEWAY


class AddressFinder(OneServerFinder):
    """Always finds the given address. Only connecting shows whether the server answers."""

    def __init__(self, url: str, token: str | None) -> None:
        """Raises PeerError when ``url`` isn't a gateway's address."""
        try:
            Endpoint.at(url, token)
            if urlsplit(url).scheme != "https" or not urlsplit(url).hostname:
                raise ValueError("it must begin with https://")
        except ValueError as error:
            raise PeerError(f"{url[:200]!r} isn't a gateway's address: {error}") from None
        super().__init__(GATEWAY, "this address is for one server only")
        self._instance = Instance("", GATEWAY, "The gateway", url, token, 0, 0.0)

    def find(self) -> Instance | None:
        self._look_again = False
        return self._instance

    def running(self) -> list[Instance]:
        return [self._instance]
