"""The client's settings of its session, which last longer than the host that got them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.protocol import jsonrpc
from callboard.protocol.logging_levels import set_level

if TYPE_CHECKING:
    from callboard.content import Json
    from callboard.protocol.session import Session, SessionRequest
    from callboard_programs.relay.link import HostConnection


#: The requests that set them.
REMEMBERED = ("logging/setLevel", "resources/subscribe", "resources/unsubscribe")


def remember(session: Session, request: SessionRequest) -> None:
    """Note which resources the client watches, and which log messages it gets."""
    uri = request.params.get("uri")
    if request.method == "logging/setLevel":
        set_level(session, request.params.get("level"))
    elif request.method == "resources/subscribe" and isinstance(uri, str):
        session.watched.add(uri)
    elif request.method == "resources/unsubscribe" and isinstance(uri, str):
        session.watched.discard(uri)


async def restore(connection: HostConnection, wishes: Session) -> None:
    """Give a new host the settings that the client gave the hosts before."""
    await connection.send(jsonrpc.notification_message("notifications/initialized"))
    requests: list[tuple[str, Json]] = [
        ("resources/subscribe", {"uri": uri}) for uri in sorted(wishes.watched)
    ]
    if wishes.log_level is not None:
        requests.append(("logging/setLevel", {"level": wishes.log_level}))
    for number, (method, params) in enumerate(requests):
        await connection.send(jsonrpc.request_message(f"restore-{number}", method, params))
