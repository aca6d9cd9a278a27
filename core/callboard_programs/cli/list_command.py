"""``callboard list``: lists the instances that are running on this machine."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from time import time

from callboard.ground.plain_text import plain
from callboard.settings import why_nothing_starts
from callboard.transport.instances import ListedInstance, listed
from callboard_programs.cli.instance import scene_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, without tokens")


def run(arguments: argparse.Namespace) -> int:
    entries = listed(everywhere=True)
    if arguments.json:
        rows = [
            {**asdict(entry.instance), "state": entry.state, "tools": entry.tools}
            for entry in entries
        ]
        for row in rows:
            del row["token"]
        print(json.dumps(rows, indent=2))
        return 0
    if not entries:
        print(_why_none())
    for entry in entries:
        instance = entry.instance
        minutes = int((time() - instance.started) / 60)
        line = (
            f"{instance.id}  {instance.kind:<8} {instance.app_version:<8} {entry.state:<9} "
            f"pid {instance.pid:<7} {minutes:>4} min  {_tools(entry.tools):>10}  "
            f"callboard {instance.version or '?'}  {_where(entry)}  {scene_of(instance)}"
        )
        print(plain(line.rstrip()))
    return 0


def _why_none() -> str:
    if (why := why_nothing_starts()) is not None:
        return f"nothing is running: {why}"
    return "nothing is running; start Maya, Blender … with callboard, or run `callboard serve`"


def _where(entry: ListedInstance) -> str:
    instance = entry.instance
    on = f"on {instance.machine}"
    return on if entry.state == "elsewhere" else f"{instance.url} {on}"


def _tools(count: int | None) -> str:
    return "" if count is None else f"{count} tools"
