"""``callboard completion``: what has a shell complete callboard's commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from callboard.transport.instances import announced, folder
from callboard_programs.cli.completing import fitting
from callboard_programs.cli.instance import tools_of

#: The shell hands over the words up to the cursor. The first line says of what kind the answer is,
#: the others are what fits, each with what it is behind a tab.
_SCRIPTS = {
    "bash": r"""
_callboard() {
    local IFS=$'\n' line words
    words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while read -r line; do
        case $line in
            files)
                compopt -o default 2>/dev/null ||
                    COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
                return ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" completion bash "${words[@]/#/=}" 2>/dev/null)
}
complete -F _callboard callboard
""",
    "zsh": r"""
#compdef callboard
_callboard() {
    local -a answers typed
    typed=("${(@Q)words[2,CURRENT]}")
    local tab=$'\t'
    answers=("${(@f)$("${words[1]}" completion zsh "${(@)typed/#/=}" 2>/dev/null)}")
    if [[ $answers[1] == files ]]; then
        _files
    elif [[ -n $answers[1] ]]; then
        compadd -- "${(@)answers%%${tab}*}"
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _callboard "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef _callboard callboard
fi
""",
    "fish": r"""
function __callboard_fitting
    set -l typed (commandline -opc) (commandline -ct)
    set -l answers ($typed[1] completion fish =$typed[2..-1] 2>/dev/null)
    if test "$answers[1]" = files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $answers
    end
end
complete -c callboard -f -a '(__callboard_fitting)'
""",
    # Where nothing is answered PowerShell completes files by itself.
    "powershell": r"""
Register-ArgumentCompleter -Native -CommandName callboard -ScriptBlock {
    param($word, $line, $cursor)
    $program, $before = @($line.CommandElements | Where-Object {
        $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_".Trim('"', "'") })
    $typed = @(@($before) + "$word".Trim('"', "'") | Where-Object { $_ -ne $null } |
        ForEach-Object { "=$_" })
    $answers = @(& $program completion powershell $typed 2>$null)
    if ($answers[0] -ne 'files') { $answers | ForEach-Object { ($_ -split "`t")[0] } }
}
""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(_SCRIPTS))
    # What the script asks: the words that are typed, the last one up to the cursor, each behind
    # an equals sign, lest one be taken for an option of this command.
    parser.add_argument("words", nargs="*", default=[], help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Prints the shell's script; with words what the last of them may become, a line each, or
    ``files``."""
    if not arguments.words:
        print(_SCRIPTS[arguments.shell].strip())
        return 0
    from callboard_programs.cli import parser_of

    words = [word.removeprefix("=") for word in arguments.words]
    fits = fitting(parser_of(words[:-1]), words, partial(_known, words[0]))
    if fits is None:
        print("files")
        return 0
    for word, what in fits:
        print(f"{word}\t{' '.join(what.split())}")
    return 0


def _known(command: str, name: str) -> Iterable[str]:
    """The values that an argument may have here."""
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
        from callboard.bundles.installed.places import places

        return [one.name for place, _ in places([Path.cwd()]) for one in place.installed()]
    return ()


def _instances() -> Iterator[str]:
    for one in announced(folder()):
        yield from (one.kind, one.id)


def _tools() -> Iterator[str]:
    """Those of the instances that answer."""
    for one in announced(folder()):
        yield from (tool["name"] for tool in tools_of(one) or ())
