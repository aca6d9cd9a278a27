"""``callboard selftest``: tests the features of callboard in an empty scene of a running
application, and writes a report without names or paths."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard.ground.regular_file import refuse_special
from callboard.rest.selftest_route import PATH
from callboard.selftest.doubles_data import for_doubles
from callboard.selftest.self_test import ASKED, summary, written
from callboard.transport.instances import answer_of
from callboard_programs.cli.instance import choose

#: Seconds allowed for the whole self-test, and maximum number of bytes in a report.
PATIENCE, MOST_BYTES = 900.0, 16 * 2**20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("instance", nargs="?", help="an instance id, the start of one, or a host")
    parser.add_argument("--yes", action="store_true", help="replace the scene without asking")
    parser.add_argument(
        "--discard", action="store_true", help="discard unsaved changes to the scene"
    )
    parser.add_argument("--out", metavar="FOLDER", default=".", help="the folder for the report")
    parser.add_argument(
        "--json", action="store_true", help="print the report instead of writing it to files"
    )
    parser.add_argument(
        "--read", metavar="FILE", help="print this report as data for the project's test doubles"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the self-test, or convert the report given with ``--read``. Return 1 if the self-test
    found faults."""
    if arguments.read is not None:
        print(plain_json(for_doubles(_report(Path(arguments.read)))))
        return 0
    instance = choose(arguments.instance)
    if instance.token is None:
        raise HostError(
            f"{instance.id} accepts calls without a token, so it can't tell you from an agent: "
            "start the self-test from the application's menu"
        )
    if not arguments.yes:
        question = f"{ASKED}\nStart it in {plain(instance.name)}? [y/N] "
        print(question, end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            print("nothing was started", file=sys.stderr)
            return 0
    body = {"discard": arguments.discard}
    answer = answer_of(instance, "POST", PATH, body, most=MOST_BYTES, patience=PATIENCE)
    if answer is None:
        raise HostError(f"{instance.id} did not answer; look at the application, and try again")
    if "checks" not in answer:
        raise HostError(
            str(answer.get("detail") or "this instance has an older callboard; update it")
        )
    if arguments.json:
        print(plain_json(answer))
    else:
        shown = written(answer, Path(arguments.out))
        print(plain(f"{summary(answer)}\nthe report: {shown}, and the JSON file beside it"))
    return int(any(check["outcome"] == "fault" for check in answer["checks"]))


def _report(path: Path) -> Any:
    refuse_special(path)
    try:
        with path.open("rb") as file:
            return json.loads(file.read(MOST_BYTES))
    except OSError as error:
        raise PeerError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise PeerError(f"{path} isn't JSON") from None
