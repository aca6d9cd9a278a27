"""The ``network`` port: downloads from the few servers that the bundled skills use.

It is off until the artist allows it. Unlike the other ports, it is used off the main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from callboard.errors import HostError

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

#: The only servers that requests are sent to.
SERVERS = ("https://api.polyhaven.com", "https://dl.polyhaven.org", "https://cdn.polyhaven.com")
#: Maximum number of seconds without data, and number of bytes read at a time.
_PATIENCE, _CHUNK = 20.0, 256 * 1024
#: After ``_GRACE`` seconds, the download must average ``_SLOWEST`` bytes a second. Otherwise a
#: server that sends an occasional byte would hold a thread forever.
_GRACE, _SLOWEST = 30.0, 4_000


class NetworkPort(Protocol):
    """Capability ``network``. Call it from any thread but the main one, because it blocks."""

    def fetch(self, url: str, most: int) -> Iterator[bytes]:
        """Yield the body in pieces. Raises HostError, even between pieces, for a server that isn't
        in ``SERVERS``, a redirect to a different server, more than ``most`` bytes, or an answer
        that is too slow."""


class Network:
    """The port, implemented with Python's own client, which respects the proxies in the
    environment."""

    def __init__(self, elsewhere: Mapping[str, str] | None = None) -> None:
        """Make the port. ``elsewhere`` maps servers to other addresses, for tests."""
        self._places = {server: (elsewhere or {}).get(server, server) for server in SERVERS}
        self._opener: OpenerDirector | None = None

    def fetch(self, url: str, most: int) -> Iterator[bytes]:
        import http.client
        from urllib.request import Request

        from callboard.ground.version import __version__

        server = origin(url)
        # ``origin`` ignores leading spaces, but the slice below would count them.
        if server not in self._places or not url.startswith(f"{server}/"):
            raise HostError(
                f"{server[:200] or 'that address'} is not a server that callboard may contact"
            )
        agent = f"callboard/{__version__}"
        headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
        request = Request(self._places[server] + url[len(server) :], headers=headers)
        total, began = 0, monotonic()
        try:
            with self._open(request) as answer:
                _refuse_longer(int(answer.headers.get("Content-Length") or 0), most, server)
                while chunk := answer.read1(_CHUNK):
                    total += len(chunk)
                    _refuse_longer(total, most, server)
                    if total < (monotonic() - began - _GRACE) * _SLOWEST:
                        raise HostError(f"{server} answers too slowly; try again later")
                    yield chunk
        except (OSError, ValueError, http.client.HTTPException) as error:
            if (close := getattr(error, "close", None)) is not None:
                close()  # An error status raises, but still holds a connection.
            raise HostError(f"{server} can't be read: {_why(error)}. Try again later.") from None

    def _open(self, request: Any) -> Any:
        from urllib.request import build_opener

        if self._opener is None:
            self._opener = build_opener(_here_only())
        return self._opener.open(request, timeout=_PATIENCE)


def origin(url: str) -> str:
    """Return ``https://host:port``, or an empty string for anything else."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}" if url.isascii() and url.isprintable() else ""
    except ValueError:
        return ""


def _here_only() -> Any:
    from urllib.request import HTTPRedirectHandler

    class HereOnly(HTTPRedirectHandler):
        """Follows a redirect only if it leads to the same server."""

        def redirect_request(self, req: Any, fp: Any, code: Any, *more: Any) -> Any:
            target = more[-1]
            if origin(target) != origin(req.full_url):
                fp.close()
                raise HostError(
                    f"{origin(req.full_url)} redirects to another server, {origin(target)[:200]};"
                    " nothing is fetched from there"
                )
            return super().redirect_request(req, fp, 307 if code == 308 else code, *more)

        http_error_308 = HTTPRedirectHandler.http_error_302  # Python 3.10 doesn't have this method.

    return HereOnly()


def _refuse_longer(count: int, most: int, server: str) -> None:
    if count > most:
        raise HostError(f"{server} sent more than the {most:,} bytes that were expected")


def _why(error: Exception) -> str:
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return f"it answered {code}"
    reason = getattr(error, "reason", None) or error
    return str(reason)[:200] or type(error).__name__
