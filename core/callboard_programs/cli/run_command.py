"""``callboard run``: runs one tool on one scene, in a host that is started for this call."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from callboard.content import Json
from callboard.errors import PeerError
from callboard.headless.number_arguments import seconds
from callboard.headless.scene_host import host_by_scene, settle_host
from callboard.headless.serve import add_host, host_options, warn_of_folders
from callboard_programs.cli.call_command import add_call_arguments, given_arguments
from callboard_programs.cli.command_result import run_and_print, show
from callboard_programs.cli.progress_bar import meanwhile
from callboard_programs.cli.question_answers import ASKABLE, Answers
from callboard_programs.farm.orders import UNSAVED, is_changed, on_scene
from callboard_programs.farm.warm_host import WarmHost


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_call_arguments(parser)
    add_host(parser)
    host_by_scene(parser)
    parser.add_argument("--scene", metavar="FILE", help="open this scene first")
    parser.add_argument("--save", action="store_true", help="save the scene back to its file")
    parser.add_argument(
        "--timeout", type=seconds, metavar="S", help="time limit in seconds for the whole command"
    )


def run(arguments: argparse.Namespace) -> int:
    """Call the tool. The exit codes are in :data:`callboard_programs.cli.command_result.EXITS`."""

    def work() -> Json:
        given, answers = given_arguments(arguments.arguments), Answers(arguments.answer)
        if arguments.scene and not Path(arguments.scene).is_file():
            raise PeerError(f"--scene {arguments.scene}: there is no such file")
        settle_host(arguments, [arguments.scene or ""])
        warn_of_folders(arguments)
        meanwhile(f"{arguments.host} starts")
        host = WarmHost(host_options(arguments), capabilities=ASKABLE, asked=answers.asked)
        scene = arguments.scene and str(Path(arguments.scene).absolute())
        with (
            host,
            answers.missing_sentence(),
            host.client_for(arguments.timeout) as client,
        ):
            result = on_scene(client, arguments.tool, given, scene, arguments.save, show)
        if arguments.scene and not arguments.save and is_changed(result):
            print(f"callboard: {UNSAVED}", file=sys.stderr)
        return result

    return run_and_print(work, arguments.tool, arguments.out)
