"""``callboard capabilities``: shows, withdraws and restores a running instance's capabilities."""

from __future__ import annotations

import argparse
import json

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.rest.capability_switches import PATH
from callboard.transport.instances import Instance, answer_of
from callboard_programs.cli.instance import choose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("withdraw", "restore"),
        help="stop offering the named capabilities until they are restored, or offer them "
        "again; without an action, show what is offered",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a capability, such as filesystem.write"
    )
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action and not arguments.names:
        raise PeerError(
            f"name the capabilities to {arguments.action}; `callboard capabilities` lists them"
        )
    instance = choose(arguments.instance)
    change = {arguments.action: arguments.names} if arguments.action else None
    offered = _ask(instance, change)
    if arguments.json:
        print(json.dumps(offered, indent=2))
        return 0
    for name in dict.fromkeys([*offered["offered_by_host"], *offered["withdrawn"]]):
        print(f"{name:<24} {_state(name, offered)}")
    return 0


def _ask(instance: Instance, change: Json | None) -> Json:
    if change is not None and instance.token is None:
        raise HostError(
            f"{instance.id} accepts calls without a token, so it can't tell you from an agent: "
            f"withdraw the capability in its panel, or start it with `--auth token`, or with "
            f"`--deny NAME`"
        )
    answer = answer_of(instance, "GET" if change is None else "POST", PATH, change)
    if answer is None:
        raise HostError(f"{instance.id} isn't answering; see `callboard doctor`")
    if "declared" not in answer:
        raise PeerError(
            str(answer.get("detail") or "this instance has an older callboard; update it")
        )
    return answer


def _state(name: str, offered: Json) -> str:
    if name in offered["withdrawn"]:
        return "withdrawn"
    return "offered" if name in offered["declared"] else "while someone can answer its questions"
