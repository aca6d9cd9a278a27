"""``callboard stop``: ends the calls that hold up a running host, even while its main thread is
blocked."""

from __future__ import annotations

import argparse

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard.guest.wake import rouse
from callboard.rest.stop_route import PATH, PATIENCE
from callboard.transport.instances import answer_of, is_alive
from callboard_programs.cli.instance import choose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(arguments: argparse.Namespace) -> int:
    instance = choose(arguments.instance)
    if instance.token is None:
        raise HostError(
            f"{instance.id} accepts calls without a token, so it can't tell you from an agent: "
            "cancel the call in its panel, or hold Escape for a second in its window"
        )
    if answer_of(instance, "GET", "/v1/healthz") is None and is_alive(instance):
        rouse(instance.pid)
    answer = answer_of(instance, "POST", PATH, {}, patience=PATIENCE + 3)
    if answer is None:
        raise HostError(
            f"{instance.id} does not answer: compiled code is blocking the whole process, and "
            "can't be ended from outside. Wait until that code returns, or quit the application"
        )
    if "ended" not in answer:
        raise PeerError(
            str(answer.get("detail") or "this instance has an older callboard; update it")
        )
    if arguments.json:
        print(plain_json(answer))
        return int("holds" in answer)
    _show(answer)
    if "holds" in answer:
        raise HostError(
            f"{plain(answer['holds'])} is still running in compiled code that Python can't "
            "interrupt. When that code returns, the call ends and its changes are undone"
        )
    return 0


def _show(answer: Json) -> None:
    for one in answer["ended"]:
        who, what = plain(one["client"]), plain(one["tool"])
        back = _BACK[one.get("rolled_back")]
        print(f"ended {what} of {who} after {one['seconds']:g} s{back}")
    if not answer["ended"] and "holds" not in answer:
        print("no call is running; nothing was ended")
    elif answer["ended"]:
        print("the client was notified that you cancelled the call; it may call again")


#: The text about the changes that a call made. The key says whether the host could undo them.
_BACK = {
    True: "; its changes were undone",
    False: "; some of its changes could not be undone: look at the scene",
    None: "",
}
