"""The gateway's port and token, kept across restarts in one file in the user's data folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from callboard.errors import PeerError
from callboard.ground.folders import data_folder
from callboard.ground.private_file import read_private, write_private
from callboard_programs.gateway.names import NAME

#: The port of a gateway that has never run before. It is outside the range from which systems
#: choose ports.
PORT = 17797
_MOST_BYTES = 4000


@dataclass(frozen=True)
class KeptAddress:
    """A gateway's port and token. ``token`` is the gateway's own token, for this user's command
    line."""

    port: int = PORT
    token: str | None = None


def read_address() -> KeptAddress:
    """Return the kept address, or the default address if there is no usable one."""
    try:
        value = json.loads(read_private(_file(), _MOST_BYTES))
        port, token = value["port"], value["token"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return KeptAddress()
    if type(port) is not int or not 0 < port < 65536 or not isinstance(token, str) or not token:
        return KeptAddress()
    return KeptAddress(port, token)


def keep_address(address: KeptAddress) -> None:
    """Keep an address so that only this user can read it. Raises OSError."""
    write_private(_file(), json.dumps(asdict(address)))


def gateway_url(name: str | None) -> str:
    """Return the gateway's address, or an instance's address if its name is given. The gateway
    doesn't have to be running. Raises PeerError when ``name`` can't be an instance's name."""
    return f"http://127.0.0.1:{read_address().port}/mcp{instance_path(name)}"


def instance_path(name: str | None) -> str:
    """Return the part that an instance's name adds to the gateway's address, or an empty string if
    there is no name. Raises PeerError when ``name`` can't be an instance's name."""
    if name is not None and NAME.fullmatch(name) is None:
        raise PeerError(
            f"{name[:80]!r} can't be one of the gateway's names; use one like blender or blender_2"
        )
    return "" if name is None else f"/{name}"


def _file() -> Path:
    return data_folder() / "gateway.json"
