"""Links with which a client adds callboard to its own file, once its user agrees."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from callboard.client_files.known import NAME


def install_link(client: str, entry: Mapping[str, Any]) -> str | None:
    """Return the link that gives ``client`` this entry, in the form that the client's documentation
    prescribes, or None if the client has no such links. ``entry`` must not contain a token, because
    links stay in browsers' histories."""
    if client == "cursor":
        config = base64.b64encode(json.dumps(entry).encode()).decode("ascii")
        query = urlencode({"name": NAME, "config": config})
        return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"
    if client == "vscode":
        return f"vscode:mcp/install?{quote(json.dumps({'name': NAME, **entry}), safe='')}"
    return None
