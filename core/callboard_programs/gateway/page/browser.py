"""Opens the page in the user's browser."""

from __future__ import annotations

import webbrowser
from html import escape

from callboard.ground.folders import data_folder
from callboard.ground.private_file import write_private
from callboard.transport.instances import answer_of
from callboard_programs.gateway.page.access import LINK
from callboard_programs.gateway.running_gateway import running_gateway


def running_link() -> str | None:
    """Return a new link to the running gateway's page, or None if no gateway is running. Takes up
    to two seconds if the gateway is silent."""
    gateway = running_gateway()
    answer = None if gateway is None else answer_of(gateway, "POST", LINK)
    link = (answer or {}).get("url")
    return link if isinstance(link, str) else None


def open_link(link: str) -> bool:
    """Open a link in the browser. Return whether there is a browser. The link is passed in a file
    that only this user can read, because other users can see programs' arguments."""
    path = data_folder() / "page.html"
    there = f'<meta http-equiv="refresh" content="0;url={escape(link)}">'
    try:
        write_private(path, f"<!doctype html><title>callboard</title>{there}")
        return webbrowser.open(path.absolute().as_uri())
    except OSError:
        return False
