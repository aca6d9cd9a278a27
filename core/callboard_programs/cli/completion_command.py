"""``callboard completion``: prints the script with which a shell completes callboard's commands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from callboard.transport.instances import announced, folder
from callboard_programs.cli.instance import tools_of

SHELLS = ("bash", "fish", "powershell", "zsh")
#: The metavars of arguments that name a file or a folder but aren't parsed as a Path.
_FILES = ("DIR", "FILE", "FILES", "WHAT")
#: Sets completion up in a zsh that hasn't set it up yet.
_COMPDEF = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to write it for")


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's script."""
    import argcomplete

    script = argcomplete.shellcode(["callboard"], shell=arguments.shell).strip()
    if arguments.shell == "zsh":
        first, _, rest = script.partition("\n")
        script = f"{first}\n{_COMPDEF}\n{rest}"
    print(script)
    return 0


def complete(parser_of: Callable[[Sequence[str]], argparse.ArgumentParser]) -> None:
    """Answer the completion script, which passes its question in environment variables, and end the
    process."""
    import argcomplete
    from argcomplete.lexers import split_line

    line = os.environ["COMP_LINE"]
    _, _, _, words, _ = split_line(line, int(os.environ["COMP_POINT"]))
    command = next((word for word in words[1:] if not word.startswith("-")), "")

    def values(prefix: str, action: argparse.Action, **about: object) -> Iterable[str]:
        metavar = str(action.metavar or "")
        if action.type is Path or any(part in _FILES for part in metavar.split("|")):
            return _files(prefix)
        return _known(command, action.dest)

    argcomplete.autocomplete(
        parser_of(words[1:]), always_complete_options=False, default_completer=values
    )


def _files(prefix: str) -> Iterator[str]:
    """Yield the files and folders whose path begins with ``prefix``. argcomplete's own function
    isn't used because it needs bash, which Windows doesn't have."""
    above, slash, begin = prefix.rpartition("/")
    folder = Path(above + slash or ".").expanduser()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(begin) and (begin or not path.name.startswith(".")):
            yield f"{above}{slash}{path.name}{'/' if path.is_dir() else ''}"


def _known(command: str, name: str) -> Iterable[str]:
    """Return the values that an argument may have on this machine."""
    if name == "instance":
        return _instances()
    if name == "tool":
        return _tools()
    if name == "deny" or (command, name) == ("capabilities", "names"):
        from callboard.calls.capabilities import VOCABULARY

        return sorted(VOCABULARY)
    if (command, name) == ("clients", "name"):
        from callboard.clients.book import ClientBook

        return [one.name for one in ClientBook().all()]
    if (command, name) == ("uninstall-skill", "name"):
        from callboard.bundles.installed.install_folders import places

        return [one.name for place, _ in places([Path.cwd()]) for one in place.installed()]
    return ()


def _instances() -> Iterator[str]:
    for one in announced(folder()):
        yield from (one.kind, one.id)


def _tools() -> Iterator[str]:
    """Yield the tools of the instances that answer."""
    for one in announced(folder()):
        yield from (tool["name"] for tool in tools_of(one) or ())
