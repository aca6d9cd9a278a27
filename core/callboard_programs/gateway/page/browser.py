"""Opening the page in the user's browser."""

from __future__ import annotations

import webbrowser
from html import escape

from callboard.ground.folders import data_folder
from callboard.ground.private_file import write_private
from callboard.transport.instances import answer_of
from callboard_programs.gateway.page.access import LINK
from callboard_programs.gateway.running_gateway import running_gateway


def running_link() -> str | None:
    """A link of the gateway that runs; None where none does. Takes up to two seconds where one is
    silent."""
    gateway = running_gateway()
    answer = None if gateway is None else answer_of(gateway, "POST", LINK)
    link = (answer or {}).get("url")
    return link if isinstance(link, str) else None


def open_link(link: str) -> bool:
    """Shows a link in the browser; whether there is one. By a file that only this user reads:
    others of this machine see what programs are started with."""
    path = data_folder() / "page.html"
    there = f'<meta http-equiv="refresh" content="0;url={escape(link)}">'
    try:
        write_private(path, f"<!doctype html><title>callboard</title>{there}")
        return webbrowser.open(path.absolute().as_uri())
    except OSError:
        return False
