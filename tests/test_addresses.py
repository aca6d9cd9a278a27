"""Addresses that lead readers elsewhere: to other sites, and to pages of MCP's specification.
`python packaging/bootstrap.py docs --outside` checks whether the sites answer. The docs builder
checks links between our own pages (tests/docs/test_site.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from docs.prose import PAGES, PROJECT, prose

#: The sites that our pages and code refer to.
SITES = {
    "api.polyhaven.com": "what `assets` asks",
    "cdn.polyhaven.com": "its previews",
    "distributed.dask.org": "the farm's scheduler",
    "dl.polyhaven.org": "its files",
    "docs.blender.org": "Blender's manual, which a user may add",
    "flamenco.blender.org": "what the farm's job type is written for",
    "github.com": "Open Job Description's pages",
    "help.autodesk.com": "the manuals of Maya and 3ds Max",
    "owasp.org": "the list that docs/security.md answers",
    "polyhaven.com": "where an asset is from",
    "pypi.org": "the index, for the MCP registry",
    "static.modelcontextprotocol.io": "the schema of server.json",
    "www.sidefx.com": "Houdini's manual",
}
#: Names that look like addresses, but are never requested.
NAMES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
ROOMS = ("core", "hosts", "ui", "packaging", "benchmarks", "examples", "docs")
TEXTS = {".py", ".html", ".js", ".json", ".svg", ".toml", ".yaml"}
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"'`\\]*")
_SITE = re.compile(r"(https?)://([^/:?#]*)")
_TARGET = re.compile(r"\]\((https?://[^)]*)\)")

#: The pages of each revision that our code refers to, by their names on the site.
SPECIFICATION = {
    "2025-03-26": {"Base Protocol"},
    "2025-11-25": {
        *("Base Protocol", "Completion", "Elicitation", "Lifecycle", "Logging", "Progress"),
        *("Resources", "Roots", "Tools", "Transports"),
    },
    "2026-07-28": {
        *("Caching", "Logging", "Multi Round-Trip Requests", "Streamable HTTP", "Subscriptions"),
        "stdio",
    },
}
_CITED = re.compile(r"\((20\d\d-\d\d-\d\d), ([A-Za-z][^,:;()]*)[,:;()]")


def files(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        for path in sorted((PROJECT / room).rglob("*")):
            if "node_modules" not in path.parts:
                yield path


def texts() -> Iterator[Path]:
    """Yield the files that aren't pages. Tests are left out, because they invent addresses."""
    yield from (PROJECT / "server.json", PROJECT / "pyproject.toml")
    yield from (path for path in files(*ROOMS) if path.suffix in TEXTS)


def is_made_up(host: str) -> bool:
    """Return whether a host is a placeholder, or the address or name of this machine or of a
    private network."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or "{" in host or host.endswith(".example")


def mistake(address: str) -> str | None:
    scheme, host = _SITE.findall(address)[0]
    if address in NAMES or is_made_up(host):
        return None
    if scheme != "https":
        return "not https"
    if host not in SITES:
        return "a new site: whoever reviews SITES sees it"
    if not re.search(r"[\w/=]$", address):
        return "ends with what is none of it"
    return None


def addresses() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for target in _TARGET.findall("\n".join(prose(page))):
            yield page, target
    for path in texts():
        for address in _ADDRESS.findall(path.read_text("utf-8")):
            # Leave out the punctuation that ends a sentence or closes brackets.
            yield path, address.rstrip(".,;:)]}")


def test_addresses_of_other_sites_are_whole_and_known() -> None:
    listed = list(addresses())
    assert [
        f"{path.relative_to(PROJECT)}: {address}: {wrong}"
        for path, address in listed
        if (wrong := mistake(address))
    ] == []
    named = {host for _, address in listed for _, host in _SITE.findall(address)}
    assert SITES.keys() - named == set(), "no text leads there any more; remove it from SITES"


def test_an_address_on_a_page_can_be_clicked() -> None:
    assert [
        f"{page.relative_to(PROJECT)}: {address}"
        for page in PAGES
        for address in _ADDRESS.findall(_TARGET.sub("", "\n".join(prose(page))))
    ] == []


def test_the_specifications_pages_are_those_that_it_has() -> None:
    cited: defaultdict[str, set[str]] = defaultdict(set)
    for path in files(*ROOMS, "tests"):
        if path.suffix in {".py", ".md"}:
            whole = re.sub(r"\n\s*(?:#:? )?", " ", path.read_text("utf-8"))
            for revision, page in _CITED.findall(whole):
                cited[revision].add(page)
    assert cited == SPECIFICATION
