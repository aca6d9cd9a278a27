"""Which host a command starts where nobody named one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from callboard.errors import PeerError

#: The host whose own scene files end so. What several hosts read, such as USD, is OpenUSD's.
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
    """After ``add_host``: a ``--host`` that is left out is for :func:`settle_host` to choose."""
    parser.set_defaults(host=None)


def settle_host(arguments: argparse.Namespace, scenes: Iterable[str]) -> None:
    """Sets ``arguments.host`` where it isn't given: the host of those files or patterns, OpenUSD
    where no ending says. Raises PeerError for files of several hosts."""
    if arguments.host is not None:
        return
    endings = (Path(scene).suffix.lower() for scene in scenes)
    hosts = {ENDINGS[ending]: ending for ending in endings if ending in ENDINGS}
    if len(hosts) > 1:
        each = ", ".join(f"{ending} ({host})" for host, ending in sorted(hosts.items()))
        raise PeerError(f"no host opens all of these: {each}; run each by itself, or give --host")
    arguments.host, ending = next(iter(hosts.items()), (_USUAL, ""))
    if arguments.host != _USUAL:
        print(f"callboard: --host {arguments.host}, which opens {ending}", file=sys.stderr)
