"""Finds the gateway for the stdio bridge, and starts it."""

from __future__ import annotations

from dataclasses import replace

from callboard.errors import HostError
from callboard.transport.instances import Instance
from callboard_programs.gateway.kept_address import instance_path
from callboard_programs.gateway.names import NAME
from callboard_programs.gateway.running_gateway import started_gateway
from callboard_programs.relay.finder import OneServerFinder
from callboard_programs.relay.last_known import GATEWAY


class GatewayFinder(OneServerFinder):
    """Finds the gateway's address, for all instances or for the named one. If the gateway can't be
    started, the next attempt is made only on the next request."""

    def __init__(self, name: str | None) -> None:
        """Raises PeerError when ``name`` can't be an instance's name."""
        self._path = instance_path(name)
        matched = None if name is None else NAME.fullmatch(name)
        kind = GATEWAY if matched is None else matched[1]
        super().__init__(kind, "the gateway's tools choose among instances")

    def find(self) -> Instance | None:
        self._look_again = False
        try:
            gateway = started_gateway()
        except HostError as error:
            self.reason = error.message
            return None
        self.reason = ""
        return replace(gateway, url=gateway.url + self._path)

    def running(self) -> list[Instance]:
        return []
