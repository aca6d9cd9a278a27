"""The applications and clients on this machine, and the changes that setup would make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.client_files.change import Change, planned
from callboard.client_files.known import ClientFormat, bridge
from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import token_of
from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.panel.client_files import formats_allowed, require_allowed
from callboard_programs.gateway.kept_address import gateway_url
from callboard_programs.install.hosts import HOSTS, installer
from callboard_programs.setup.served import is_served, why_served

#: Shown in place of a token that hasn't been made yet.
_UNMADE = "its own token"


@dataclass(frozen=True)
class HostPlan:
    """One application: its versions by name, each with its user folder."""

    host: str
    versions: dict[str, Path]


@dataclass(frozen=True)
class ClientPlan:
    """One client. ``refused`` is the reason why its file is left alone, or empty."""

    name: str
    known: ClientFormat
    gateway: bool
    difference: list[str] = field(default_factory=list)
    refused: str = ""

    @property
    def path(self) -> Path:
        assert self.known.path is not None
        return self.known.path

    def change(self, token: str | None = None) -> Change:
        """Return the change that writes the entry into the client's file. Raises PeerError or
        OSError."""
        if self.gateway and not self.known.stdio:
            entry = self.known.entry(gateway_url(None), token or _UNMADE)
        else:
            entry = self.known.bridge(self.name)
        return planned(self.known, self.path, entry)

    def token(self) -> str:
        """Return the client's own token. Make one if it has none. Raises PeerError or HostError."""
        return token_of(self.name, ClientBook())


@dataclass(frozen=True)
class Plan:
    hosts: list[HostPlan]
    clients: list[ClientPlan]
    #: The applications that get callboard from the site's folder.
    served: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the plan as lines of text, including a line for each client that is left alone."""
        lines = [
            f"install callboard into {', '.join(host.versions) or host.host}" for host in self.hosts
        ]
        lines += [f"copy nothing for {host}: {why_served(host)}" for host in self.served]
        for client in self.clients:
            if client.refused:
                lines.append(f"leave {client.known.title} alone: {client.refused}")
            elif client.difference:
                way = "the gateway's address" if client.gateway else "the bridge"
                lines.append(f"write {way} into {client.path}, for {client.known.title}")
            else:
                lines.append(f"leave {client.path}: it already contains callboard")
        if not self.clients:
            lines.append(
                "configure no client: none was found on this machine; specify one with --client "
                "NAME"
            )
        return lines

    def as_json(self) -> Json:
        """Return the plan as JSON."""
        return {
            "hosts": [{"host": h.host, "versions": list(h.versions)} for h in self.hosts],
            "clients": [
                {
                    "client": client.name,
                    "file": str(client.path),
                    "changes": bool(client.difference),
                    "refused": client.refused or None,
                }
                for client in self.clients
            ],
        }


def plan(hosts: Sequence[str], clients: Sequence[str], gateway: bool) -> Plan:
    """Return the plan for those hosts and clients, or for all on this machine. Nothing is written.
    Raises PeerError if there is no bridge that clients could start, if a named host isn't on this
    machine, or if callboard doesn't know a client's file."""
    if bridge() is None:
        raise PeerError(
            "clients start callboard's bridge, but it isn't installed for this user: install it "
            "with `pipx install FILE`, where FILE is callboard's wheel, then run `callboard setup`"
        )
    known = formats_allowed()
    here = [name for name, one in known.items() if one.is_here()]
    if clients:
        known = {name: require_allowed(name) for name in clients}
        here = list(clients)
    served = tuple(host for host in hosts or HOSTS if is_served(host))
    return Plan(
        [one for one in _hosts(hosts, served) if one.versions],
        [_client(name, known[name].users, gateway) for name in here],
        served,
    )


def _hosts(wanted: Sequence[str], served: Sequence[str]) -> list[HostPlan]:
    own = [host for host in wanted or HOSTS if host not in served]
    everything = [HostPlan(host, installer(host).user_folders()) for host in own]
    if wanted and (absent := [each.host for each in everything if not each.versions]):
        raise PeerError(
            f"not found on this machine, or never started: {', '.join(absent)}; `callboard "
            "install --help` explains how to specify a folder"
        )
    return everything


def _client(name: str, known: ClientFormat, gateway: bool) -> ClientPlan:
    if known.path is None:
        raise PeerError(f"the file of {known.title} isn't known; run `callboard config {name}`")
    client = ClientPlan(name, known, gateway and not known.stdio)
    facts: dict[str, Any] = {}
    try:
        facts["difference"] = client.change().difference
    except CallboardError as error:
        facts["refused"] = error.message
    except OSError as error:
        facts["refused"] = f"{known.path} can't be read: {error.strerror or error}"
    return ClientPlan(name, known, client.gateway, **facts)
