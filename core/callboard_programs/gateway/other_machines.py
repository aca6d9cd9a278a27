"""Controls access from other machines with TLS, a token for each client, and the user's
approval."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from ipaddress import ip_address

from callboard.clients.book import ClientBook
from callboard.clients.holder import TokenHolder, new_token
from callboard.errors import HostError, PeerError
from callboard.transport.http.access import Access, Refusal, bearer
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.listener import Listener
from callboard_programs.gateway.certificate import Certificate

log = logging.getLogger(__name__)

#: The port for other machines, unless another one is given.
PORT = 17798


@dataclass(frozen=True)
class Outside:
    """The address at which other machines reach this one, and the certificate that is presented to
    them."""

    address: str
    port: int
    certificate: Certificate


def outside_address(text: str) -> tuple[str, int]:
    """Return the address and port in ``192.168.1.5``, ``192.168.1.5:17798`` or ``[fe80::1]:17798``.
    Raises PeerError."""
    address, colon, port = text.rpartition(":")
    if not colon or (text.count(":") > 1 and not text.startswith("[")):
        address, port = text, str(PORT)
    address = address.strip("[]")
    try:
        number, parsed = int(port), ip_address(address)
    except ValueError:
        raise PeerError(
            f"{text[:80]!r} isn't an address of this machine, such as 10.0.0.5"
        ) from None
    if parsed.is_unspecified or not 0 <= number < 65536:
        raise PeerError(
            "give this machine's address on one network, such as 10.0.0.5, not one that stands for "
            "all its addresses, such as 0.0.0.0; a port must be less than 65536"
        )
    return address, number


class RemoteListener(Listener):
    """The listener for other machines. Use it on the gateway's loop."""

    def __init__(self, outside: Outside, clients: ClientBook) -> None:
        super().__init__(outside.address)
        self._outside = outside
        self._clients = clients
        #: Ids of the clients that are waiting for approval, so that each is logged and recorded
        #: only once.
        self._waiting: set[str] = set()

    @property
    def url(self) -> str:
        """The address with the fingerprint by which `callboard connect` recognizes this machine."""
        return f"https://{self._host}/mcp#sha256={self._outside.certificate.fingerprint()}"

    @property
    def _host(self) -> str:
        address = self._outside.address
        return f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"

    def take_port(self) -> None:
        """Bind the port. Raises HostError."""
        try:
            self.bind(self._outside.port)
        except OSError as error:
            why = error.strerror or error
            raise HostError(f"can't listen on {self._outside.address}: {why}") from None

    async def open(self) -> None:
        """Serve on the port that :meth:`take_port` has bound. Raises HostError."""
        # The gateway's own token is valid on this machine only, so use a new token that no client
        # knows.
        access = Access(self.port, new_token(), self._find, hosts=[self._host])
        await self.start(access, self._outside.certificate.context())

    def _find(self, token: str) -> TokenHolder | Refusal | None:
        known = self._clients.entry(token)
        if known is None:
            return None
        if known.remote:
            return self._clients.find(token)
        why = "was turned away" if known.turned_away else "may not connect from other machines yet"
        return Refusal(
            403,
            f"{known.name} {why} (its token's fingerprint: {known.fingerprint}): on the gateway's "
            "machine, let it in with the gateway's page, an application's panel or "
            f"`callboard clients approve {known.name}`",
        )

    def turned_away(self, incoming: IncomingRequest) -> None:
        """Ask the user to approve a client that has a token but isn't approved yet."""
        known = self._clients.entry(bearer(incoming.headers))
        if known is None or known.remote or known.turned_away or known.id in self._waiting:
            return
        self._waiting.add(known.id)
        log.warning(
            "%s asks to connect from another machine: `callboard clients approve %s` lets it in",
            known.name,
            known.name,
        )
        program = incoming.headers.get("user-agent", "")
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, _ask, known.id, incoming.address, program)


def _ask(id: str, address: str, program: str) -> None:
    try:
        ClientBook().ask(id, address, program)
    except HostError as error:
        log.warning("the request can't be shown on the page or in a panel: %s", error.message)
