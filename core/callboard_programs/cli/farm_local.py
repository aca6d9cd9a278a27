"""``callboard farm local``: runs a whole farm on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading

from callboard.headless.number_arguments import port_number, repetitions
from callboard.headless.serve import add_host, host_options, warn_of_folders
from callboard.headless.stop_signals import Ending
from callboard_programs.cli.farm_options import (
    FARM_GOODBYE,
    SUPERVISOR_GOODBYE,
    add_attached,
    add_certificates,
    add_wear,
    certificates_of,
    end_attached,
    wear_options,
)
from callboard_programs.farm.local import LocalScheduler, LocalSupervisors
from callboard_programs.farm.machine import offers
from callboard_programs.farm.security import require_private, security_of

#: Seconds between two checks for Ctrl+C, which doesn't interrupt a wait on Windows.
_LOOK = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    parser.add_argument(
        "-n", dest="hosts", type=repetitions, default=2, help="number of hosts; 0 for none"
    )
    parser.add_argument("--listen", metavar="IP", default="127.0.0.1", help="by default 127.0.0.1")
    parser.add_argument("--port", type=port_number, default=0, help="0 lets the system choose")
    add_wear(parser)
    add_certificates(parser)
    add_attached(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print ``{"event": "ready", "scheduler", "dashboard", "pid"}`` once all hosts have joined."""
    certificates = certificates_of(arguments)
    require_private(arguments.listen, certificates)
    security = security_of(certificates)
    warn_of_folders(arguments)
    over = threading.Event()
    Ending(over.set)
    end_attached(arguments, over.set, FARM_GOODBYE)
    options = [*host_options(arguments), *wear_options(arguments), "--attached"]
    if certificates:
        options += certificates.options()
    where = (arguments.listen, arguments.port, security, certificates is not None)
    with LocalScheduler(*where) as scheduler:
        worker = [sys.executable, "-m", "callboard", "farm", "worker", *options]
        worker += ["--scheduler", scheduler.address]
        commands = [
            [*worker, "--name", f"local{number}", *(f"--offer={a}={n}" for a, n in own.items())]
            for number, own in enumerate(offers(arguments.hosts))
        ]
        with LocalSupervisors(commands, SUPERVISOR_GOODBYE, _tell):
            ready = {"event": "ready", "scheduler": scheduler.address}
            line = {**ready, "dashboard": scheduler.dashboard, "pid": os.getpid()}
            print(json.dumps(line), flush=True)
            while not over.wait(_LOOK):
                continue
    return 0


def _tell(text: str) -> None:
    print(f"callboard: {text}", file=sys.stderr, flush=True)
