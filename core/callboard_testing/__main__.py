"""``python -m callboard_testing --host NAME``: the compliance suite on a headless host."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter

from callboard.guest.inbox import MainThreadInbox
from callboard.host_kit.headless import HOSTS, make_host
from callboard_testing.compliance import run_all


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m callboard_testing", description=__doc__)
    parser.add_argument("--host", choices=sorted(HOSTS), default="openusd")
    parser.add_argument(
        "-k", metavar="TEXT", default="", dest="only", help="run only checks whose ids contain TEXT"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per check on stdout"
    )
    arguments = parser.parse_args(argv)
    # An application's own output is sent to stderr, even if it bypasses Python.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    host = make_host(arguments.host, MainThreadInbox().post)
    counts: Counter[str] = Counter()
    for check, outcome, why in run_all(host, arguments.only):
        counts[outcome] += 1
        if arguments.json:
            print(
                json.dumps({"id": check.id, "outcome": outcome, "why": why}),
                file=answers,
                flush=True,
            )
        else:
            print(
                f"{outcome:8}{check.id}",
                *([why] if why else []),
                sep="\n",
                file=answers,
                flush=True,
            )
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()), file=sys.stderr)
    code = 1 if counts["failed"] or not counts["ok"] else 0
    host.leave(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
