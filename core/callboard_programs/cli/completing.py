"""What fits at the end of a command line that is being typed, by the parser that will read it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

#: Of what names a file or a folder, beside what the parser makes a Path of.
_FILES = ("DIR", "FILE", "FILES", "WHAT")

#: What goes on with one word, and in a few words what it is.
Fitting = tuple[str, str]
#: The values of an argument that only the machine knows.
Known = Callable[[str], Iterable[str]]


class Typed:
    """How far a command line is. ``known`` gives the values of the argument with a name such as
    ``instance``."""

    def __init__(self, parser: argparse.ArgumentParser, known: Known) -> None:
        self._known = known
        #: The option whose values come, and how many of them have to.
        self._wants: argparse.Action | None = None
        self._must = 0
        self._enter(parser)

    def take(self, word: str) -> None:
        """One whole word."""
        if self._wants is not None and (self._must or not word.startswith("-")):
            self._must = max(0, self._must - 1)
            if not self._must and self._wants.nargs not in ("*", "+"):
                self._wants = None
        elif word.startswith("-") and len(word) > 1:
            name, equals, _ = word.partition("=")
            action = self._options.get(name)
            takes = action is not None and action.nargs != 0 and not equals
            self._wants = action if takes else None
            self._must = _least(action) if action is not None and takes else 0
        else:
            self._wants, self._must = None, 0
            self._take_value(word)

    def fitting(self, begun: str) -> list[Fitting] | None:
        """What begins so; None where files do."""
        name, equals, value = begun.partition("=")
        if equals and name in self._options:
            fits = self._values(self._options[name])
            if fits is None:
                return None
            return [(f"{name}={one}", what) for one, what in fits if one.startswith(value)]
        if begun.startswith("-") and not self._must:
            return _beginning(begun, self._free_options())
        wanting = [self._wants] if self._wants else []
        if not self._must:
            wanting += self._positionals[:1]
        fitting: list[Fitting] = []
        for action in wanting:
            values = self._values(action)
            if values is None:
                return None
            fitting += values
        return _beginning(begun, fitting if wanting else self._free_options())

    def _enter(self, parser: argparse.ArgumentParser) -> None:
        self._options = dict(parser._option_string_actions)
        self._positionals = parser._get_positional_actions()

    def _take_value(self, word: str) -> None:
        if not self._positionals:
            return
        action = self._positionals[0]
        parts = action.choices if isinstance(action, argparse._SubParsersAction) else {}
        if word in parts:
            self._enter(parts[word])
        elif action.nargs not in ("*", "+", argparse.REMAINDER):
            del self._positionals[0]

    def _values(self, action: argparse.Action) -> list[Fitting] | None:
        if isinstance(action, argparse._SubParsersAction):
            return [(one.dest, one.help or "") for one in action._choices_actions]
        if action.choices is not None:
            return [(str(one), "") for one in action.choices]
        metavar = str(action.metavar or "")
        if action.type is Path or any(part in _FILES for part in metavar.split("|")):
            return None
        return [(one, "") for one in self._known(action.dest)]

    def _free_options(self) -> Iterator[Fitting]:
        for action in dict.fromkeys(self._options.values()):
            if action.help != argparse.SUPPRESS:
                what = (action.help or "").partition(";")[0]
                names = [name for name in action.option_strings if name[:2] == "--"]
                yield from ((name, what) for name in names or action.option_strings)


def fitting(
    parser: argparse.ArgumentParser, words: Sequence[str], known: Known
) -> list[Fitting] | None:
    """What the last of the words, which is being typed, may become; None where it is a file."""
    *before, begun = _joined(words)
    typed = Typed(parser, known)
    for word in before:
        typed.take(word)
    fits = typed.fitting(begun)
    if fits is None or begun == words[-1]:
        return fits
    # bash takes `--option=value` for three words, of which the last is completed.
    return [(one.partition("=")[2], what) for one, what in fits]


def _joined(words: Sequence[str]) -> list[str]:
    """Without the ends of words that bash sees at an equals sign."""
    joined: list[str] = []
    glue = False
    for word in words:
        if joined and (glue or (word == "=" and joined[-1].startswith("--"))):
            joined[-1] += word
        else:
            joined.append(word)
        glue = word == "=" and joined[-1].startswith("--")
    return joined or [""]


def _beginning(begun: str, fits: Iterable[Fitting]) -> list[Fitting]:
    return [each for each in fits if each[0].startswith(begun)]


def _least(action: argparse.Action) -> int:
    """Values that have to follow an option."""
    if isinstance(action.nargs, int):
        return action.nargs
    return 0 if action.nargs in ("?", "*") else 1
