"""MCP Apps: callboard's pages, which a client shows next to a tool's answer (SEP-1865, 2026-01-26).

The only page is a clickable picture of the scene. A client that doesn't declare the extension isn't
offered the page. It gets the tool's text and picture as usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import ResourceNotFound
from callboard.ports.capability_names import LOOK
from callboard.ports.host import Host
from callboard.protocol.peer import Peer
from callboard.service.resources import ResourceRegistry, ServedResource

APPS = "io.modelcontextprotocol/ui"
APP_TYPE = "text/html;profile=mcp-app"
VIEW = "ui://callboard/viewport"
#: The tool whose answers the page shows.
SHOWN = "viewport__look"
#: The page must not load anything: no requests, no frames, no other base.
_META: Json = {
    "ui": {
        "csp": {
            "connectDomains": [],
            "resourceDomains": [],
            "frameDomains": [],
            "baseUriDomains": [],
        },
        "prefersBorder": True,
    }
}


def views(host: Host) -> list[ServedResource]:
    """Return the page, if the host has pictures for it."""
    if LOOK not in host.ports:
        return []
    return [
        ServedResource(
            VIEW,
            "viewport",
            _page,
            title="The scene",
            description=(
                "A picture of the scene, where you can select by clicking, undo, and see what is "
                "waiting for the artist."
            ),
            mime_type=APP_TYPE,
            meta=_META,
        )
    ]


@cache
def _page() -> str:
    return Path(__file__).with_name("viewport.html").read_text("utf-8")


def shows_apps(capabilities: Mapping[str, Any]) -> bool:
    """Return whether the client declared that it shows apps' pages (SEP-1865, Client (Host)
    Capabilities)."""
    extensions = capabilities.get("extensions")
    declared = extensions.get(APPS) if isinstance(extensions, Mapping) else None
    types = declared.get("mimeTypes") if isinstance(declared, Mapping) else None
    return isinstance(types, (list, tuple)) and APP_TYPE in types


def extensions_for(peer: Peer, resources: ResourceRegistry, others: Iterable[str]) -> Json:
    """Return the value of ``capabilities.extensions``. In eras with sessions, the key is defined
    only by this extension, so only a client that declares the extension gets the key."""
    has_view = resources.get(VIEW) is not None
    if peer.features.sessions:
        return {APPS: {}} if has_view and shows_apps(peer.capabilities) else {}
    return {name: {} for name in (*others, *([APPS] if has_view else []))}


def linked(peer: Peer, resources: ResourceRegistry, entries: list[Json]) -> list[Json]:
    """Add the page for a tool's answers to entries in ``tools/list``, if the client shows pages."""
    if resources.get(VIEW) is not None and shows_apps(peer.capabilities):
        for entry in entries:
            if entry["name"] == SHOWN:
                entry["_meta"] = {**entry.get("_meta", {}), "ui": {"resourceUri": VIEW}}
    return entries


def listed_for(
    capabilities: Mapping[str, Any], resources: Iterable[ServedResource]
) -> list[ServedResource]:
    """Return the resources that a client with these capabilities can use."""
    return [one for one in resources if one.mime_type != APP_TYPE or shows_apps(capabilities)]


def require_listed(peer: Peer, resource: ServedResource) -> None:
    """Raise ResourceNotFound for a page when the client doesn't show pages."""
    if not listed_for(peer.capabilities, [resource]):
        raise ResourceNotFound(resource.uri)
