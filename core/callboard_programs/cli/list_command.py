"""``callboard list``: lists the instances that are running on this machine."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from time import time

from callboard.ground.plain_text import plain
from callboard.transport.instances import ListedInstance, listed
from callboard_programs.cli.instance import scene_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs; without tokens")


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
        print("nothing is running; start Maya, Blender … with callboard, or run `callboard serve`")
    for entry in entries:
        instance = entry.instance
        minutes = int((time() - instance.started) / 60)
        line = (
            f"{instance.id}  {instance.kind:<8} {entry.state:<8} pid {instance.pid:<7} "
            f"{minutes:>4} min  {_tools(entry.tools):>10}  {_where(entry)}  {scene_of(instance)}"
        )
        print(line.rstrip())
    return 0


def _where(entry: ListedInstance) -> str:
    instance = entry.instance
    return f"on {plain(instance.machine)}" if entry.state == "elsewhere" else instance.url


def _tools(count: int | None) -> str:
    return "" if count is None else f"{count} tools"
