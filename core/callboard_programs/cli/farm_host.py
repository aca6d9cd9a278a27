"""The process of a farm's host. Only `callboard farm worker` starts it, with ``python -m
callboard_programs.cli.farm_host``."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

from callboard.app import Callboard
from callboard.content import Json
from callboard.errors import CallboardError
from callboard.ground.plain_text import plain
from callboard.guest.inbox import MainThreadInbox
from callboard.headless.clean_stdout import keep_stdout_clean
from callboard.headless.serve import add_host, host_config, serve
from callboard.host_kit.headless import make_host
from callboard_programs.cli.farm_options import add_certificates, certificates_of
from callboard_programs.farm.host_worker import HostWorker, Membership
from callboard_programs.farm.security import security_of


def main() -> int:
    """Run until the host leaves the farm or stdin ends."""
    parser = argparse.ArgumentParser(prog="callboard_programs.cli.farm_host")
    add_host(parser)
    add_certificates(parser)
    parser.add_argument("--member", type=json.loads, required=True)
    arguments = parser.parse_args()
    try:
        return _run(arguments)
    except CallboardError as error:  # For example, a setting is wrong, or a policy forbids serving.
        print(f"callboard: {plain(error.message)}", file=sys.stderr)
        return 1


def _run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    config = host_config(arguments, 0, announce=False)
    security = security_of(certificates_of(arguments))
    out, guard = keep_stdout_clean(), threading.Lock()

    def report(line: Json) -> None:
        try:
            with guard:
                print(json.dumps(line), file=out, flush=True)
        except OSError:
            os._exit(1)  # The supervisor has ended, so nothing needs this host.

    inbox = MainThreadInbox()
    host = make_host(arguments.host, inbox.post)
    member = Membership(**arguments.member)
    kind = f"host:{host.identity.kind}"
    own = {kind: 1.0, f"{kind}-{host.identity.version}": 1.0}
    member = replace(member, offers={**own, **member.offers})

    def join(app: Callboard, stop: Callable[[], None]) -> None:
        HostWorker(app, member, security, report, stop).start()

    return serve(host, config, inbox, join, worker=True)


if __name__ == "__main__":
    sys.exit(main())
