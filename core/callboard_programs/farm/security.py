"""Access to a farm's scheduler. Anyone who can reach a scheduler can use it, so a scheduler either
listens on this machine only or requires a certificate."""

from __future__ import annotations

import ipaddress
import logging
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from callboard.errors import HostError, PeerError
from callboard.host_kit.headless import pip_install


class Certificates(NamedTuple):
    """PEM files: the trusted authority, this program's own certificate, and its key."""

    ca: Path
    cert: Path
    key: Path

    def options(self) -> list[str]:
        """Return the certificates as options for other farm commands."""
        return [f"--tls-{name}={path.absolute()}" for name, path in self._asdict().items()]


class OtherAuthority(HostError):
    """Raised when the scheduler's certificates and ours come from different authorities."""


def security_of(certificates: Certificates | None) -> Any:
    """Return Dask's security object. Raises HostError if a file can't be read or Dask isn't
    installed."""
    try:
        from distributed.security import Security
    except ImportError as error:
        raise HostError(f"a farm needs `{pip_install('farm')}`: {error}") from None
    quiet()

    if certificates is None:
        return Security(require_encryption=False)
    for path in certificates:
        if not path.is_file():
            raise HostError(f"{path} isn't a file; name the PEM files of this farm")
    try:
        context = ssl.create_default_context(cafile=certificates.ca)
        context.load_cert_chain(certificates.cert, certificates.key)
    except OSError as error:
        raise HostError(
            f"{', '.join(map(str, certificates))} don't belong together ({error}): --tls-ca must "
            "be an authority's certificate, --tls-cert a certificate that it signed, and --tls-key "
            "that certificate's key"
        ) from None
    files = {"tls_ca_file": str(certificates.ca)}
    for role in ("client", "worker", "scheduler"):
        files |= {
            f"tls_{role}_cert": str(certificates.cert),
            f"tls_{role}_key": str(certificates.key),
        }
    return Security(require_encryption=True, **files)


#: Seconds to wait for a scheduler to report why it refuses.
_PATIENCE = 5.0


def no_answer(address: str, error: Exception, security: Any) -> HostError:
    """Return the error to raise for a scheduler that can't be used. ``error`` and ``security`` are
    Dask's error and Dask's security object. Blocks for a few seconds at most."""
    from distributed.comm.core import FatalCommClosedError

    if (
        isinstance(error, FatalCommClosedError)
        or "SSL" in str(error)
        or _is_refused(address, security)
    ):
        return OtherAuthority(
            f"the certificates given here and those of the scheduler at {address} are of different "
            "authorities: give --tls-ca, --tls-cert and --tls-key of that scheduler's farm"
        )
    return HostError(
        f"no scheduler answers at {address}: {error}; start it, or correct the address, which "
        "begins with tls:// if the scheduler has certificates"
    )


def _is_refused(address: str, security: Any) -> bool:
    """Return whether the scheduler refuses these certificates. In TLS 1.3, a server refuses a
    certificate only after the handshake. If Dask has sent its first message by then, it loses the
    reason."""
    where = urlsplit(address)
    if where.scheme != "tls":
        return False
    context: ssl.SSLContext = security.get_connection_args("client")["ssl_context"]
    try:
        with (
            socket.create_connection((where.hostname, where.port or 0), _PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=where.hostname) as guarded,
        ):
            guarded.recv(1)
    except ssl.SSLError as error:
        return error.reason is not None and (
            "UNKNOWN_CA" in error.reason or "CERTIFICATE" in error.reason
        )
    except OSError:
        return False
    return False


def quiet(level: int = logging.ERROR) -> None:
    """Limit Dask's logging to messages at ``level`` and above."""
    for name in ("distributed", "distributed.client"):  # The second logger has its own level.
        logging.getLogger(name).setLevel(level)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_private(host: str, certificates: Certificates | None) -> None:
    """Raise PeerError if other machines could reach a scheduler at ``host`` without a
    certificate."""
    if certificates is None and not is_loopback(host):
        raise PeerError(
            f"other machines could reach a scheduler on {host}, and anyone who can reach one can "
            "run anything: give --tls-ca, --tls-cert and --tls-key, or stay on 127.0.0.1"
        )


def require_private_address(address: str, certificates: Certificates | None) -> None:
    """Raise PeerError if an address such as ``tcp://10.0.0.4:8786`` isn't valid, or needs
    certificates that weren't given."""
    host: str | None = None
    with suppress(ValueError):
        split = urlsplit(address)
        if split.scheme in ("tcp", "tls") and split.port:
            host = split.hostname
    if host is None:
        raise PeerError(
            f"{address} isn't a scheduler's address; give one like tcp://127.0.0.1:8786"
        )
    if split.scheme == "tls" and certificates is None:
        raise PeerError(
            f"{address} needs this farm's certificates: give --tls-ca, --tls-cert and --tls-key"
        )
    require_private(host, certificates)
