"""A host that lives as long as a render manager's session, and the tasks that are brought to it.

A process beside the session keeps the host: who comes and goes is short-lived. What tells them
where the host is, a file in the session's folder, is also what keeps it alive: the host ends when
that file is gone, even where nobody said goodbye.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep

from callboard.content import Json
from callboard.errors import CallboardError, HostError, InvalidParams
from callboard.ground.private_file import read_private, write_private
from callboard.mapping.host_process import GOODBYE, START, HostLost, HostProcess
from callboard.mapping.tasks import Task, TaskResult
from callboard_programs.client import Client
from callboard_programs.client.http_client import pass_over
from callboard_programs.client.tool_call import Notified, failure
from callboard_programs.farm.orders import carried_out, result_of

#: Where the host is, and what its keeper said.
STATE, WORDS = "callboard-host.json", "callboard-host.log"
#: Seconds between two looks, by who waits for the other.
AGAIN = 0.1
_MOST = 10_000


def enter(folder: Path, options: Sequence[str]) -> None:
    """Starts a host with those options of ``callboard serve``, and returns when it serves. Raises
    HostError."""
    state, words = folder / STATE, folder / WORDS
    if state.exists():
        raise HostError(
            f"a host is in {folder} already; end it with `callboard farm session leave`"
        )
    keeper = [sys.executable, "-m", "callboard_programs.farm.session_host", str(folder), *options]
    with words.open("wb") as out:
        # Nothing of this process stays open: a manager waits for the end of our output.
        process = subprocess.Popen(
            keeper,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    until = monotonic() + START + GOODBYE
    while not state.exists():
        if process.poll() is not None or monotonic() > until:
            process.kill()
            process.wait()
            raise HostError(words.read_text("utf-8", "replace").strip() or "no host started")
        sleep(AGAIN)
    process.returncode = 0  # it outlives this process, and that is no mistake


def leave(folder: Path) -> None:
    """Ends the session's host, where there is one."""
    (folder / STATE).unlink(missing_ok=True)
    until = monotonic() + GOODBYE + 2
    while (folder / WORDS).exists() and monotonic() < until:
        sleep(AGAIN)


def keep(folder: Path, options: Sequence[str]) -> int:
    """The keeper's whole life."""
    state = folder / STATE
    serve = [sys.executable, "-m", "callboard", "serve", "--worker", *options]
    with HostProcess(serve) as host:
        try:
            ready = host.ready("url", "token")
        except HostLost as error:
            print(error.message, file=sys.stderr, flush=True)
            return 1
        write_private(state, json.dumps({"url": ready["url"], "token": ready["token"]}))
        while state.exists() and host.runs:
            sleep(AGAIN)
    state.unlink(missing_ok=True)
    (folder / WORDS).unlink(missing_ok=True)
    return 0


def perform(folder: Path, order: Json, notified: Notified = pass_over) -> TaskResult:
    """Has the session's host do what one line of a bundle's orders says."""
    try:
        with _client(folder) as client:
            answer = carried_out(client, order, notified)
    except CallboardError as error:
        answer = {"status": "failed", "value": failure(error)}
    return result_of(task_of(order), answer)


def task_of(order: Json) -> Task:
    """What a line of an exported job's orders is for."""
    return Task(order["index"], order["file"], key=order["key"])


def order_of(orders: Path, index: int) -> Json:
    """Raises InvalidParams where the file has no such line."""
    try:
        with orders.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number == index:
                    order: Json = json.loads(line)
                    return order
    except (OSError, ValueError) as error:
        raise InvalidParams(f"{orders} can't be read: {error}") from None
    raise InvalidParams(f"{orders} has no task {index}")


def _client(folder: Path) -> Client:
    try:
        where = json.loads(read_private(folder / STATE, _MOST))
    except (OSError, ValueError) as error:
        raise HostError(f"the session's host is gone: {error}") from None
    return Client(where["url"], where["token"])


if __name__ == "__main__":
    sys.exit(keep(Path(sys.argv[1]), sys.argv[2:]))
