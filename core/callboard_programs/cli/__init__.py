"""The ``callboard`` command. Every subcommand is a module with ``add_arguments`` and ``run``. The
module is imported only when its command is called."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from callboard.ground.version import __version__
from callboard.headless.command import run
from callboard.headless.parser import Parser
from callboard_programs.cli.examples import show_examples

#: One line about each command, in the order in which the help lists the commands.
COMMANDS = {
    "setup": "set up callboard in this machine's applications and clients, or undo that",
    "serve": "run a headless host with the server",
    "list": "list the running instances on this machine",
    "tools": "list a running host's tools, or show one tool's arguments",
    "call": "call one tool and print its result as JSON",
    "stop": "end the call that holds up a running host, such as an endless script",
    "selftest": "try what callboard does in a running application, and report it",
    "gateway": "one address for all instances on this machine",
    "run": "start a host, call one tool on one scene, and end the host",
    "batch": "call one tool on many files, on several hosts",
    "farm": "run one tool over any number of tasks, on hosts on many machines",
    "stdio": "bridge for clients that support only stdio",
    "connect": "bridge to the gateway on another machine",
    "config": "print or write an MCP client's configuration",
    "clients": "list the clients that may connect; `clients revoke NAME`, `approve NAME`",
    "capabilities": "show what an instance offers; `capabilities withdraw NAME`, `restore NAME`",
    "lint": "check skills and bundles",
    "vendor": "put the packages that a skill requires into its folder",
    "new-skill": "write a skill to start from, or one made from recorded calls",
    "new-bundle": "write a bundle with a server to start from",
    "pack": "check a bundle and make one file of it",
    "report": "show the top missing capabilities, calls and errors",
    "doctor": "show what is installed, what is running, and what is wrong",
    "install": "install callboard into Maya, Blender, Houdini or 3ds Max",
    "uninstall": "remove callboard from an application",
    "install-skill": "install or upgrade a skill bundle",
    "uninstall-skill": "remove an installed skill bundle",
    "skills": "list skills and installed bundles",
    "manual": "let docs__lookup search an application's manual that you downloaded",
    "completion": "print the script that lets your shell complete these commands",
}

#: Commands in other packages, because the applications' archives contain them too.
_HOMES = {"serve": "callboard.headless.serve"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Return 0 on success, 1 on failure, 2 for a wrong command line."""
    if "_ARGCOMPLETE" in os.environ:  # A shell asks for completions.
        import_module("callboard_programs.cli.completion_command").complete(parser_of)
    return run(argv, parser_of)


def parser_of(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for a command line. Only the command named in ``words`` gets its
    options."""
    parser = Parser(
        prog="callboard", description="An MCP server inside Maya, 3ds Max, Houdini and Blender."
    )
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name == asked:
            module = module_of(name)
            module.add_arguments(command)
            show_examples(command, name)
            command.set_defaults(run=module.run)
    return parser


def module_of(command: str) -> ModuleType:
    """Return the module with the command's ``add_arguments`` and ``run``."""
    place = f"callboard_programs.cli.{command.replace('-', '_')}_command"
    return import_module(_HOMES.get(command, place))
