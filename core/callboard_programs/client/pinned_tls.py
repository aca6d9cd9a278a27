"""TLS to a server of another machine, which is known by its certificate's fingerprint."""

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
    """``fingerprint`` is SHA-256 of the certificate, in hex; without one, the certificate must be
    one that this system trusts."""

    context: ssl.SSLContext
    fingerprint: str | None

    @staticmethod
    def by(fragment: str) -> Pinned:
        """As an address says behind its ``#``. Raises ValueError."""
        context = ssl.create_default_context()
        if not fragment:
            return Pinned(context, None)
        matched = _FRAGMENT.fullmatch(fragment)
        if matched is None:
            raise ValueError("behind # there must be sha256= and 64 digits")
        # Who it is, the fingerprint says: such a certificate is signed by nobody.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return Pinned(context, matched[1])

    def accepts(self, writer: StreamWriter) -> bool:
        """Whether the server is the one that is meant."""
        if self.fingerprint is None:
            return True
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return hmac.compare_digest(hashlib.sha256(shown or b"").hexdigest(), self.fingerprint)
