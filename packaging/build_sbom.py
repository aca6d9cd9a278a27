"""A bill of materials, in CycloneDX JSON format, for the packages that an archive carries."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from build_requirements import BuildError, Bundled, notices
from build_wheel import version

NAME = "sbom.cdx.json"
#: Licenses that allow us to pass a package on, by SPDX's names and those of older wheels.
ALLOWED = {
    *("MIT", "MIT License", "BSD", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "ISC"),
    *("Apache-2.0", "Apache 2.0", "Apache License 2.0", "Apache Software License", "PSF-2.0"),
    # Allowed for separate libraries that anyone can replace, such as wheels.
    "LGPL-3.0-only",
}
_SPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def notices_and_bill(bundled: Sequence[Bundled]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that list the bundled packages, for people and for programs. Raises
    BuildError."""
    yield from notices(bundled)
    yield f"licenses/{NAME}", bill(bundled)


def bill(bundled: Sequence[Bundled]) -> bytes:
    """Return the bill, with the same bytes for the same content. Raises BuildError when a license
    isn't one of ALLOWED."""
    unique = {one.file: one for one in bundled}
    parts = [_component(one) for _, one in sorted(unique.items())]
    ours: dict[str, Any] = {
        "type": "application",
        "bom-ref": "callboard",
        "name": "callboard",
        "version": version(),
        "purl": f"pkg:pypi/callboard@{version()}",
        "licenses": [{"license": {"id": "MIT"}}],
    }
    used = [part["bom-ref"] for part in parts]
    whole: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": ours},
        "components": parts,
        "dependencies": [{"ref": "callboard", "dependsOn": used}, *({"ref": r} for r in used)],
    }
    # An identifier of this bill that depends only on its content.
    digest = hashlib.sha256(json.dumps(whole).encode()).hexdigest()
    whole["serialNumber"] = f"urn:uuid:{uuid.uuid5(_SPACE, digest)}"
    return (json.dumps(whole, indent=1, sort_keys=True) + "\n").encode()


def _component(one: Bundled) -> dict[str, Any]:
    _check_licence(one)
    name = canonicalize_name(one.name)
    purl = f"pkg:pypi/{name}@{one.version}?file_name={one.file}"
    spdx = re.fullmatch(r"[A-Za-z0-9.+-]+(?: (?:OR|AND) [A-Za-z0-9.+-]+)*", one.license)
    licence = {"expression": one.license} if spdx else {"license": {"name": one.license}}
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": one.version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": one.digest}],
        "licenses": [licence],
    }


def _check_licence(one: Bundled) -> None:
    """Raise BuildError unless at least one of the alternative licenses is allowed."""
    choices = [each.strip(" ()") for each in re.split(r" OR ", one.license)]
    for choice in choices:
        if all(part.strip() in ALLOWED for part in re.split(r" AND |, ", choice)):
            return
    raise BuildError(
        f"{one.name} {one.version} is under {one.license!r}, which no one has approved; see ALLOWED"
    )
