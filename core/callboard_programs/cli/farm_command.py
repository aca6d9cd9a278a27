"""``callboard farm``: runs one tool over any number of tasks, on hosts on this machine or on
several machines."""

from __future__ import annotations

import argparse
from importlib import import_module

from callboard_programs.cli.examples import show_examples

#: The command's parts. Each part is a module that is imported only when the part is called.
PARTS = {
    "local": "a scheduler and hosts on this machine",
    "worker": "one host that takes part in a farm",
    "run": "call one tool, or run a workflow, over files, frames or rows",
    "export": "the same work as a job for a render manager",
    "session": "the steps of such a job on a machine: start a host, run tasks, end it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="part", metavar="PART", required=True)
    for name, text in PARTS.items():
        part = parts.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        module = import_module(f"callboard_programs.cli.farm_{name}")
        module.add_arguments(part)
        show_examples(part, f"farm {name}")
        part.set_defaults(run_part=module.run)


def run(arguments: argparse.Namespace) -> int:
    code: int = arguments.run_part(arguments)
    return code
