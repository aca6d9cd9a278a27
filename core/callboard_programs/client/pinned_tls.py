"""TLS connections to a server on another machine. The server is identified by its certificate's
fingerprint."""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
from asyncio import StreamWriter
from dataclasses import dataclass

_FRAGMENT = re.compile(r"sha256=([0-9a-f]{64})")


@dataclass(frozen=True)
class Pinned:
    """A TLS context and the certificate that the server must have. ``fingerprint`` is the
    certificate's SHA-256, in hex. If it is None, this system must trust the certificate."""

    context: ssl.SSLContext
    fingerprint: str | None

    @staticmethod
    def by(fragment: str) -> Pinned:
        """Return the context for the part of an address after ``#``. Raises ValueError."""
        if not fragment:
            return Pinned(ssl.create_default_context(), None)
        matched = _FRAGMENT.fullmatch(fragment)
        if matched is None:
            raise ValueError(
                "the part after # must be sha256= and 64 hexadecimal digits, 0-9 and a-f"
            )
        # Only the fingerprint identifies the server, because no authority has signed such a
        # certificate. The system's list of authorities isn't needed, and reading it takes a long
        # time.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return Pinned(context, matched[1])

    def accepts(self, writer: StreamWriter) -> bool:
        """Return whether the server has the expected certificate."""
        if self.fingerprint is None:
            return True
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return hmac.compare_digest(hashlib.sha256(shown or b"").hexdigest(), self.fingerprint)
