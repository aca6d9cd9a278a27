"""A skill's vendored packages: their notation under ``requires``, and the folder below the skill
where ``callboard vendor`` puts them, one for each Python version and system."""

from __future__ import annotations

import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path

from callboard.skills.file_stamps import VENDORED

#: The file in a vendor folder with the requirements that the folder was made for, one per line.
REQUIRED = "required.txt"
#: Maximum number of characters in one requirement.
LONGEST = 500
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_OPERATOR = "~=|==|!=|<=|>=|<|>"
_CLAUSE = re.compile(rf"({_OPERATOR})\s*({_NUMBER.pattern})(\.\*)?")
_ONE = rf"(?:{_OPERATOR})\s*{_NUMBER.pattern}(?:\.\*)?"
_WANTED = re.compile(rf"{_NAME.pattern}\s*(?:\[.*\])?\s*(?P<clauses>{_ONE}(?:\s*,\s*{_ONE})*)?")
_RULE = r"(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9._*+!-]+"
#: A requirement in pip's notation (PEP 508): versions or an address, then markers.
_PACKAGE = re.compile(
    rf"{_NAME.pattern}\s*(?:\[[^\]]*\]\s*)?"
    rf"(?:@\s*\S+\s*|\(?(?:{_RULE}\s*(?:,\s*{_RULE}\s*)*)?\)?)(?:;.*)?"
)
_COMPARED: dict[str, Callable[[list[int], list[int]], bool]] = {
    "==": eq,
    "!=": ne,
    "<=": le,
    ">=": ge,
    "<": lt,
    ">": gt,
}

_changing = threading.Lock()
#: Number of loaded skills that use a folder which was put on the import path for them.
_users: Counter[str] = Counter()


def this_python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def vendor_folder(skill: Path, version: str = "") -> Path:
    """Return the folder of the skill's packages for a version of Python, such as ``3.11``, on this
    system, by default for this Python's version. The folder need not exist."""
    version = version or this_python()
    return skill / VENDORED[0] / f"py{version.replace('.', '')}-{sys.platform}"


class ImportPath:
    """The folders that one load of a skill adds to the end of the import path, where they shadow
    nothing. May be used from any thread."""

    def __init__(self) -> None:
        self._joined: set[str] = set()

    def join(self, folder: Path) -> None:
        """If the folder exists, add it until :meth:`leave` is called."""
        path = str(folder)
        if path in self._joined or not folder.is_dir():
            return
        with _changing:
            if path in sys.path and not _users[path]:
                return  # Other code has added this folder.
            if path not in sys.path:
                sys.path.append(path)
            _users[path] += 1
            self._joined.add(path)

    def leave(self) -> None:
        """Remove the folders that no other load uses."""
        with _changing:
            for path in self._joined:
                _users[path] -= 1
                if not _users[path] and path in sys.path:
                    sys.path.remove(path)
            self._joined.clear()


def package_of(requirement: str) -> str:
    """Return the package's name."""
    named = _NAME.match(requirement)
    return named[0] if named else ""


def is_requirement(text: str) -> bool:
    """Return whether pip treats the text as a package and not as an option."""
    return len(text) <= LONGEST and _PACKAGE.fullmatch(text) is not None


def satisfies(version: str, requirement: str) -> bool:
    """Return whether an installed version meets the requirement, as far as version numbers show.
    Anything else, such as a marker, an address or ``===``, is left to pip."""
    wanted, number = _WANTED.fullmatch(requirement), _NUMBER.match(version)
    if wanted is None or number is None:
        return True
    have = [int(part) for part in number[0].split(".")]
    return all(_fits(have, *clause) for clause in _CLAUSE.findall(wanted["clauses"] or ""))


def _fits(have: list[int], operator: str, number: str, star: str) -> bool:
    want = [int(part) for part in number.split(".")]
    have = have + [0] * (len(want) - len(have))
    if operator == "~=":
        return have >= want and have[: len(want) - 1] == want[:-1]
    if star:
        return (have[: len(want)] == want) == (operator == "==")
    want = want + [0] * (len(have) - len(want))
    return _COMPARED[operator](have, want)
