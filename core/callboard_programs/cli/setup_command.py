"""``callboard setup``: sets up the applications and clients on this machine, or undoes the
setup."""

from __future__ import annotations

import argparse
import json
import sys

from callboard.client_files.known import formats
from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain
from callboard_programs.cli.progress_bar import meanwhile
from callboard_programs.install.hosts import HOSTS
from callboard_programs.setup.apply import Tell, set_up, watched
from callboard_programs.setup.backup import Backup, new_kept, only_one, read_kept
from callboard_programs.setup.plan import Plan, plan
from callboard_programs.setup.served import why_served
from callboard_programs.setup.trial_call import try_out
from callboard_programs.setup.undo import undo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument("--yes", action="store_true", help="don't ask")
    parser.add_argument(
        "--undo", action="store_true", help="restore everything that setup has changed"
    )
    parser.add_argument(
        "--host",
        choices=sorted(HOSTS),
        action="append",
        default=[],
        help="set up only this application; repeatable",
    )
    parser.add_argument(
        "--client",
        choices=sorted(formats().keys() - {"other"}),
        action="append",
        default=[],
        help="set up only this client, even if it isn't found here; repeatable",
    )
    parser.add_argument(
        "--gateway",
        action="store_true",
        help="use the gateway's address instead of the bridge in clients that accept an address",
    )
    parser.add_argument("--no-trial", action="store_true", help="don't make a trial call")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    reported: list[str] = []

    def tell(line: str) -> None:
        reported.append(line)
        if not arguments.json:
            print(("would " if arguments.dry_run else "") + plain(line), flush=True)

    try:
        outcome = _undo(arguments, tell) if arguments.undo else _set_up(arguments, tell)
    except OSError as error:
        raise HostError(f"{error.strerror or error}: {error.filename}") from None
    if arguments.json:
        print(json.dumps({**outcome, "lines": reported}, indent=2))
    return 0 if outcome["done"] else 1


def _undo(arguments: argparse.Namespace, tell: Tell) -> Json:
    if not (arguments.dry_run or arguments.yes) and read_kept() is not None:
        undo(lambda line: print(plain(line), file=sys.stderr), dry_run=True)
        if not _agreed("restore everything?"):
            raise PeerError("nothing was changed")
    return {"done": undo(tell, arguments.dry_run)}


def _set_up(arguments: argparse.Namespace, tell: Tell) -> Json:
    intended = plan(arguments.host, arguments.client, arguments.gateway)
    if not intended.hosts and not intended.clients and not intended.served:
        raise HostError(
            "no applications or clients were found here; start each of them once, or name them "
            "with --host and --client"
        )
    if arguments.dry_run:
        for line in intended.lines():
            tell(line)
        return _outcome(intended)
    if not arguments.yes:
        print("\n".join(map(plain, intended.lines())), file=sys.stderr)
        if not _agreed("do this?"):
            raise PeerError("nothing was changed")
    # Record the current state before the lock is created, because creating the lock also creates
    # callboard's folder.
    new = new_kept()
    with only_one():
        return _done(intended, read_kept() or new, arguments, tell)


def _done(intended: Plan, kept: Backup, arguments: argparse.Namespace, tell: Tell) -> Json:
    if intended.hosts:
        meanwhile("installing, which may take half a minute for each application")
    done = set_up(intended, kept, tell)
    client = next((one.name for one in done.clients if not one.refused), None)
    for one in done.clients:
        if one.refused:
            print(f"callboard: left {one.known.title} alone: {plain(one.refused)}", file=sys.stderr)
    for host in intended.served:
        tell(f"copied nothing for {host}: {why_served(host)}")
    trial = None
    if client is not None and not arguments.no_trial:
        with watched(done.hosts, kept):
            trial = try_out(client, tell)
        tell(trial)
    steps = ["start the application"] if intended.hosts or intended.served else []
    if client is not None:
        steps.append("restart your clients, or have them reload their servers")
    elif not intended.clients:
        steps.append(
            "name your client: `callboard setup --client NAME`; if setup doesn't know it, type "
            "`callboard config other`"
        )
    tell("; ".join([*steps, "`callboard setup --undo` restores everything"]))
    return {**_outcome(done), "trial": trial}


def _outcome(plan: Plan) -> Json:
    return {**plan.as_json(), "done": not any(client.refused for client in plan.clients)}


def _agreed(question: str) -> bool:
    """Ask the person at the terminal, and return whether the answer is yes. Raises PeerError when
    there is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise PeerError(
            "can't ask for confirmation without a terminal; check the plan with --dry-run, "
            "then use --yes"
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
