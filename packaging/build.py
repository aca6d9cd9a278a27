"""Builds the archives for the hosts, with the same bytes every time, and checks them.

python packaging/bootstrap.py build [HOST ...] [--full] [--out DIR]
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from build_requirements import PROJECT, BuildError

#: Each host's module, whose ``build(out, full)`` returns the files that it wrote.
HOSTS = {
    "blender": "build_blender",
    "maya": "build_maya",
    "houdini": "build_houdini",
    "3dsmax": "build_max",
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py build", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("hosts", metavar="HOST", nargs="*", help=", ".join(HOSTS) + "; default all")
    parser.add_argument("--full", action="store_true", help="with Qt and the large panel")
    parser.add_argument("--out", type=Path, default=PROJECT / "dist")
    asked = parser.parse_args(arguments)
    unknown = set(asked.hosts).difference(HOSTS)
    if unknown:
        parser.error(f"no host {', '.join(sorted(unknown))}; choose from {', '.join(HOSTS)}")
    try:
        for host in asked.hosts or HOSTS:
            for path in importlib.import_module(HOSTS[host]).build(asked.out, asked.full):
                data = path.read_bytes()
                print(f"{path}  {len(data)} bytes  sha256 {hashlib.sha256(data).hexdigest()}")
    except BuildError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
