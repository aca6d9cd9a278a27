"""The certificate that the gateway presents to other machines."""

from __future__ import annotations

import hashlib
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.folders import data_folder

#: Days for which a certificate is valid.
_LASTS = 3650
#: Seconds allowed for making a key and a certificate.
_PATIENCE = 30.0


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return a server's TLS context. Raises HostError."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ValueError) as error:
            raise HostError(f"{self.certificate} and {self.key} can't be used: {error}") from None
        return context

    def fingerprint(self) -> str:
        """Return the SHA-256 of the certificate, in hex. Raises HostError."""
        try:
            _, mark, rest = self.certificate.read_text("ascii").partition(ssl.PEM_HEADER)
            first = mark + rest.partition(ssl.PEM_FOOTER)[0] + ssl.PEM_FOOTER
            return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()
        except (OSError, ValueError) as error:
            raise HostError(f"{self.certificate} isn't a certificate: {error}") from None


def own_certificate(address: str) -> Certificate:
    """Return the certificate for this address. If there is none yet, create one with the
    ``openssl`` command. Raises HostError."""
    folder = data_folder() / "certificates"
    name = address.replace(":", "-")
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    if made.certificate.is_file() and made.key.is_file():
        return made
    program = shutil.which("openssl")
    if program is None:
        raise HostError(
            "a certificate is needed, but there is no `openssl` to create one: install openssl, "
            "or give your own certificate with --certificate FILE --key FILE"
        )
    # Only this user may read the key and its folder.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command = [program, "req", "-x509", *kind, "-days", str(_LASTS)]
    about = ["-subj", "/CN=callboard", "-addext", f"subjectAltName=IP:{address}"]
    files = ["-keyout", str(made.key), "-out", str(made.certificate)]
    try:
        done = subprocess.run(
            [*command, *about, *files],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"openssl can't make a certificate: {error}") from None
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        raise HostError(f"openssl can't make a certificate: {' '.join(last)}")
    made.key.chmod(0o600)
    return made
