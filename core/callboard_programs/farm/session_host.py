"""A host that lives as long as a render manager's session, and the tasks that are sent to it. The
session's processes are short-lived, so a separate process, the keeper, runs the host. A file in the
session's folder holds the host's address. The same file keeps the host alive: the host ends when
the file is gone, even if the session never ended the host."""

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

#: The file with the host's address, and the keeper's log.
STATE, WORDS = "callboard-host.json", "callboard-host.log"
#: Seconds between two checks for the file.
AGAIN = 0.1
_MOST = 10_000


def enter(folder: Path, options: Sequence[str]) -> None:
    """Start a host with these options of ``callboard serve``, and return once it is serving. Raises
    HostError."""
    state, words = folder / STATE, folder / WORDS
    if state.exists():
        raise HostError(f"{folder} already has a host; end it with `callboard farm session leave`")
    keeper = [sys.executable, "-m", "callboard_programs.farm.session_host", str(folder), *options]
    with words.open("wb") as out:
        # The keeper must not inherit our output, because the manager waits until it is closed.
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
    process.returncode = 0  # Avoids a ResourceWarning, because the keeper outlives this process.


def leave(folder: Path) -> None:
    """End the session's host, if there is one."""
    (folder / STATE).unlink(missing_ok=True)
    until = monotonic() + GOODBYE + 2
    while (folder / WORDS).exists() and monotonic() < until:
        sleep(AGAIN)


def keep(folder: Path, options: Sequence[str]) -> int:
    """Run the host until the session ends. This is the keeper's main function."""
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
    """Have the session's host perform one line of a bundle's orders."""
    try:
        with _client(folder) as client:
            answer = carried_out(client, order, notified)
    except CallboardError as error:
        answer = {"status": "failed", "value": failure(error)}
    return result_of(task_of(order), answer)


def task_of(order: Json) -> Task:
    """Return the task described by one line of an exported job's orders."""
    return Task(order["index"], order["file"], key=order["key"])


def order_of(orders: Path, index: int) -> Json:
    """Return the order with that index. Raises InvalidParams when the file has no such line."""
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
