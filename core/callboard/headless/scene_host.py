"""Chooses the host that a command starts when the user names none."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from callboard.errors import PeerError

#: The host for each file extension of a scene. Formats that several hosts can open, such as USD,
#: are opened by OpenUSD.
ENDINGS = {
    ".blend": "blender",
    ".hip": "houdini",
    ".hiplc": "houdini",
    ".hipnc": "houdini",
    ".ma": "maya",
    ".max": "3dsmax",
    ".mb": "maya",
    ".usd": "openusd",
    ".usda": "openusd",
    ".usdc": "openusd",
    ".usdz": "openusd",
}
_USUAL = "openusd"


def host_by_scene(parser: argparse.ArgumentParser) -> None:
    """Let :func:`settle_host` choose when ``--host`` is left out. Call it after ``add_host``."""
    parser.set_defaults(host=None)


def settle_host(arguments: argparse.Namespace, scenes: Iterable[str]) -> None:
    """If ``--host`` isn't given, set ``arguments.host`` to the host for these files or patterns, or
    to OpenUSD when none of their extensions is known. Raises PeerError when the files' hosts
    differ."""
    if arguments.host is not None:
        return
    endings = (Path(scene).suffix.lower() for scene in scenes)
    hosts = {ENDINGS[ending]: ending for ending in endings if ending in ENDINGS}
    if len(hosts) > 1:
        each = ", ".join(f"{ending} ({host})" for host, ending in sorted(hosts.items()))
        raise PeerError(f"no host opens all of these: {each}; run each on its own, or give --host")
    arguments.host, ending = next(iter(hosts.items()), (_USUAL, ""))
    if arguments.host != _USUAL:
        print(f"callboard: --host {arguments.host}, which opens {ending}", file=sys.stderr)
