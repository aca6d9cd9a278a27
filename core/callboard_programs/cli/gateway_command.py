"""``callboard gateway``: serves one address for every instance on this machine."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path

from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain
from callboard.headless.number_arguments import port_number, seconds
from callboard.headless.stop_signals import Ending
from callboard.settings import config_from, locked, under_policy, why_off
from callboard_programs.gateway.certificate import Certificate, own_certificate
from callboard_programs.gateway.gateway import Gateway
from callboard_programs.gateway.kept_names import forget, kept_names
from callboard_programs.gateway.other_machines import Outside, outside_address


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=port_number, help="by default the last one used; 0 means any free port"
    )
    parser.add_argument(
        "--auth",
        choices=("token", "none"),
        default="token",
        help="none lets every program on this machine connect",
    )
    parser.add_argument(
        "--open",
        action="store_true",
        help="open the page of the running gateway, or of this one, in the browser",
    )
    parser.add_argument(
        "--idle",
        type=seconds,
        metavar="SECONDS",
        help="end after this many seconds without instances or clients",
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help="also listen on this address; clients on other machines need your approval",
    )
    parser.add_argument(
        "--certificate", type=Path, metavar="FILE", help="PEM file; by default, one is made"
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="the certificate's private key")
    parser.add_argument("--names", action="store_true", help="list the names and their scenes")
    parser.add_argument(
        "--forget",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="free these names for other scenes; 'unsaved' means all unsaved scenes that are gone",
    )


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    if arguments.names or arguments.forget:
        print(_forget(arguments.forget) if arguments.forget else _names())
        return 0
    if (why := why_off()) is not None:
        raise HostError(why)
    if arguments.open and arguments.port is None:
        from callboard_programs.gateway.page.browser import running_link

        link = running_link()
        if link is not None:
            _open(link)
            return 0
    token = arguments.auth == "token" or locked("auth") is not None
    gateway = Gateway(
        arguments.port,
        token=token,
        idle=arguments.idle,
        outside=_outside(arguments),
        records=bool(under_policy(config_from({})).records),
    )
    asyncio.run(_serve(gateway, opens=arguments.open))
    return 0


def _names() -> str:
    """Return a line for each name, with the name's scene. Raises HostError."""
    lines = [f"{name:<12} {plain(each.words)}" for name, each in kept_names().items()]
    return "\n".join(lines) or "No names have been assigned yet."


def _forget(wanted: list[str]) -> str:
    """Free the names, and return a sentence about the freed names. Raises HostError or
    PeerError."""
    forgotten = forget(wanted)
    if not forgotten:
        return "No name belongs to an unsaved scene that is gone; nothing was changed."
    return f"Forgotten: {', '.join(forgotten)}. New scenes get these names next."


def _outside(arguments: argparse.Namespace) -> Outside | None:
    """Return the address for other machines, or None. Raises PeerError or HostError."""
    if (arguments.certificate is None) != (arguments.key is None):
        raise PeerError("give both --certificate FILE and --key FILE, or neither")
    if arguments.listen is None:
        return None
    if locked("listen") is False:
        raise PeerError("this machine's policy doesn't let a gateway listen for other machines")
    if arguments.auth == "none" and locked("auth") is None:
        raise PeerError("every client on another machine needs a token; leave --auth none out")
    address, port = outside_address(arguments.listen)
    if arguments.certificate is None:
        return Outside(address, port, own_certificate(address))
    return Outside(address, port, Certificate(arguments.certificate, arguments.key))


def _open(link: str) -> None:
    from callboard_programs.gateway.page.browser import open_link

    opened = open_link(link)
    reported = (
        "Opened. If the browser doesn't show the page, open"
        if opened
        else "There is no browser here. Open"
    )
    print(f"{reported} this link, once, within ten minutes: {link}", file=sys.stderr, flush=True)


async def _serve(gateway: Gateway, *, opens: bool) -> None:
    loop, ending = asyncio.get_running_loop(), asyncio.Event()
    Ending(lambda: _end(loop, ending))

    def ready() -> None:
        line = {
            "event": "ready",
            "url": gateway.url,
            "token": gateway.token,
            "pid": os.getpid(),
            "page": (link := gateway.page_link()),
        }
        if gateway.remote_url is not None:
            line["remote_url"] = gateway.remote_url
        print(json.dumps(line), flush=True)
        if gateway.remote_url is not None:
            print(f"Other machines: callboard connect '{gateway.remote_url}'", file=sys.stderr)
        print(
            f"The gateway serves each instance at {gateway.url}/NAME (blender, blender_2, maya …)\n"
            "Connect a client: callboard config claude-code --gateway (or cursor, vscode …)\n"
            f"To see its page, open this link, once, within ten minutes: {link}\nStop: Ctrl+C",
            file=sys.stderr,
            flush=True,
        )
        if opens:
            # Use a thread, because the browser may be slow and nothing else should wait for it.
            loop.run_in_executor(None, _open, link)

    await gateway.serve(ready, ending)


def _end(loop: asyncio.AbstractEventLoop, ending: asyncio.Event) -> None:
    loop.call_soon_threadsafe(ending.set)
