"""The parser of every command. Its errors suggest the intended word."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """An argparse parser with better errors. The parsers of its subcommands are of this class
    too."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuse unknown arguments here: the parent parser would show its own usage."""
        read, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = " ".join(unknown)
            option, _, _ = unknown[0].partition("=")
            meant = _meant(option, self._option_string_actions) if option[:1] == "-" else ""
            self.error(f"unrecognized arguments: {words}{meant}")
        return read, unknown

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and end the program with exit code 2."""
        wrong = _CHOICE.search(message)
        if wrong and (meant := _meant(wrong["given"], re.findall(r"[\w.-]+", wrong["known"]))):
            # In a list of twenty-six choices, the intended one is hard to find.
            message = f"{message[: wrong.start()]}invalid choice: '{wrong['given']}'{meant}"
        super().error(f"{message}\nsee: {self.prog} --help")


def _meant(given: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(given, list(known), n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""
