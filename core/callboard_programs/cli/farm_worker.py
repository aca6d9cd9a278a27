"""``callboard farm worker``: keeps one host running in a farm, replacing it when it ends."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
from typing import Any

from callboard.content import Json
from callboard.headless.number_arguments import amount
from callboard.headless.serve import add_host, host_options, warn_of_folders
from callboard.headless.stop_signals import Ending
from callboard_programs.cli.farm_options import (
    SUPERVISOR_GOODBYE,
    add_attached,
    add_certificates,
    add_wear,
    certificates_of,
    end_attached,
)
from callboard_programs.farm.machine import offers
from callboard_programs.farm.orders import LOST
from callboard_programs.farm.security import (
    OtherAuthority,
    no_answer,
    require_private_address,
    security_of,
)
from callboard_programs.farm.supervisor import Supervisor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    parser.add_argument("--scheduler", metavar="ADDRESS", required=True, help="tcp://… or tls://…")
    parser.add_argument("--name", default=socket.gethostname(), help="the host's name in results")
    parser.add_argument(
        "--offer",
        metavar="NAME=N",
        type=amount,
        action="append",
        default=[],
        help="a resource such as license-karma, for tasks that need it; gpu and memory=16e9 "
        "override the real values",
    )
    add_wear(parser)
    add_certificates(parser)
    add_attached(parser)


def run(arguments: argparse.Namespace) -> int:
    """Keep one host after another running, and print the ready line of each."""
    certificates = certificates_of(arguments)
    require_private_address(arguments.scheduler, certificates)
    security = security_of(certificates)
    if not arguments.attached:
        _try(arguments.scheduler, security)
    warn_of_folders(arguments)
    options = [*host_options(arguments), *(certificates.options() if certificates else [])]
    # ``farm local`` has already divided this machine's resources among its hosts.
    alone = {} if arguments.attached else offers()[0]
    with tempfile.TemporaryDirectory(prefix="callboard-farm-") as folder:
        member = {
            "scheduler": arguments.scheduler,
            "folder": folder,
            "offers": {**alone, **dict(arguments.offer)},
            "most_tasks": arguments.max_tasks,
            "most_memory": arguments.max_memory,
        }

        def command(name: str) -> list[str]:
            given = json.dumps({**member, "name": name})
            host = [sys.executable, "-m", "callboard_programs.cli.farm_host", *options]
            return [*host, f"--member={given}"]

        supervisor = Supervisor(
            command,
            f"{arguments.name}-{os.getpid()}",
            lambda line: print(json.dumps(line), flush=True),
            lambda loss: _tell(arguments.scheduler, security, loss),
            arguments.max_memory,
        )
        Ending(supervisor.stop)
        end_attached(arguments, supervisor.stop, SUPERVISOR_GOODBYE)
        supervisor.run()
    return 0


def _try(scheduler: str, security: Any) -> None:
    """Warn the user if the scheduler isn't answering yet. Raises HostError if it never will; Dask
    itself would keep trying silently."""

    async def ask() -> None:
        async with _remote(scheduler, security) as remote:
            await remote.identity(n_workers=0)

    try:
        asyncio.run(ask())
    except (OSError, asyncio.TimeoutError) as error:
        refused = no_answer(scheduler, error, security)
        if isinstance(refused, OtherAuthority):
            raise refused from None
        print(
            f"callboard: {refused.message}. The host will join as soon as the scheduler answers.",
            file=sys.stderr,
            flush=True,
        )


def _remote(scheduler: str, security: Any) -> Any:
    from distributed.core import rpc

    return rpc(scheduler, connection_args=security.get_connection_args("client"), timeout=5)


def _tell(scheduler: str, security: Any, loss: Json) -> None:
    """Report a lost host to all clients of the scheduler, if the scheduler is still running."""
    print(f"callboard: {loss['why']}", file=sys.stderr, flush=True)

    async def tell() -> None:
        async with _remote(scheduler, security) as remote:
            await remote.log_event(topic=LOST, msg=loss)

    try:
        asyncio.run(tell())
    except (OSError, asyncio.TimeoutError) as error:
        print(
            f"callboard: the scheduler couldn't be notified: {error}", file=sys.stderr, flush=True
        )
