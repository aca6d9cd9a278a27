"""Handles agents' reports of missing capabilities that no single instance answers."""

from __future__ import annotations

from uuid import uuid4

from callboard.content import Json
from callboard.demand import request_capability
from callboard.protocol.peer import PeerRequest
from callboard.records.recorder import Recorder
from callboard.records.store import Store
from callboard_programs.relay.last_known import GATEWAY


class CapabilityRequests:
    """Records and acknowledges reports that reach the gateway itself. Use it on the gateway's
    loop."""

    def __init__(self, *, keeps: bool) -> None:
        """If ``keeps`` is false, the reports are acknowledged but not recorded."""
        self._keeps = keeps
        self._store: Store | None = None

    def take(self, request: PeerRequest, token: str) -> Json:
        """Return the result of a call to the reserved tool. ``token`` is the client's token, which
        is never recorded."""
        arguments = request.params.get("arguments")
        if self._keeps:
            if self._store is None:  # Few gateways ever need this.
                self._store = Store()
                self._store.open()
            if token:
                self._store.redactor.hide(token)
            Recorder(GATEWAY, self._store).answered_here(
                str(uuid4()),
                request,
                request_capability.TOOL_NAME,
                arguments if isinstance(arguments, dict) else {},
                request_capability.ACK,
            )
        return request_capability.acknowledge(arguments)

    def close(self) -> None:
        """Write the reports that haven't been written yet. Waits for the disk."""
        if self._store is not None:
            self._store.close()
