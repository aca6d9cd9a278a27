"""The parser of every command: what is written wrongly is told with what was meant."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """As argparse's, beside what it says of errors. The parsers of its commands are such, too."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Refuses what it doesn't know itself: the parser above would show another usage."""
        read, unknown = super().parse_known_args(args, namespace)
        if unknown:
            words = " ".join(unknown)
            option, _, _ = unknown[0].partition("=")
            meant = _meant(option, self._option_string_actions) if option[:1] == "-" else ""
            self.error(f"unrecognized arguments: {words}{meant}")
        return read, unknown

    def error(self, message: str) -> NoReturn:
        """Ends the program with 2, after the usage and what is wrong."""
        wrong = _CHOICE.search(message)
        if wrong and (meant := _meant(wrong["given"], re.findall(r"[\w.-]+", wrong["known"]))):
            # Behind twenty-six others nobody finds the one that was meant.
            message = f"{message[: wrong.start()]}invalid choice: '{wrong['given']}'{meant}"
        super().error(f"{message}\nsee: {self.prog} --help")


def _meant(given: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(given, list(known), n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""
