"""``callboard farm export``: exports the work of ``farm run`` as a job for a render manager."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from callboard.errors import PeerError
from callboard.headless.number_arguments import count
from callboard.mapping.task_sources import tasks_over
from callboard_programs.cli.farm_options import add_needs
from callboard_programs.cli.task_lines import add_scene_options, add_work, ended, work_of
from callboard_programs.farm.flamenco import write_job
from callboard_programs.farm.openjd import write_bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_work(parser)
    add_needs(parser)
    add_scene_options(parser)
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--openjd", metavar="DIR", type=Path, help="the folder for the job bundle")
    kinds.add_argument(
        "--flamenco", metavar="DIR", type=Path, help="the folder for a Flamenco 3 job"
    )
    parser.add_argument(
        "--chunk", metavar="N", type=count, help="calls in one Flamenco task, on one host (10)"
    )
    parser.add_argument("--name", help="the job's name; by default the tool's")


def run(arguments: argparse.Namespace) -> int:
    """Write the job, and print ``{template | job, tasks, files}``."""
    return ended(partial(_run, arguments))


def _run(arguments: argparse.Namespace) -> int:
    tasks = tasks_over(arguments.over)
    # Make the paths absolute, because a render manager's session runs in a different folder.
    for folders in (arguments.skills, arguments.roots):
        folders[:] = [str(Path(folder).absolute()) for folder in folders]
    name = arguments.name or arguments.tool
    work = work_of(arguments)
    if arguments.flamenco is not None:
        first = "job"
        folder = arguments.flamenco.absolute()
        files = write_job(folder, name, work, tasks, arguments.chunk or 10)
    elif arguments.chunk is not None:
        raise PeerError(
            "--chunk needs --flamenco; leave it out, because --openjd keeps its host anyway"
        )
    else:
        first = "template"
        files = write_bundle(arguments.openjd.absolute(), name, work, tasks)
    reported = [str(file) for file in files]
    print(json.dumps({first: reported[0], "tasks": len(tasks), "files": reported}))
    return 0
