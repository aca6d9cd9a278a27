"""What bundles bring into interpreters that many plug-ins share: our packages, and under a private
name what these import of others. The same files serve every machine and every Python since 3.10.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from build_archive import Files
from build_requirements import BuildError, targets, wheels
from build_vendored import NAMESPACE, privately, vendored
from build_wheel import our_files

#: What the server imports, by the name that pip knows and the one that Python knows.
NEEDED = {
    "tornado": "tornado",
    "PyYAML": "yaml",
    "fastjsonschema": "fastjsonschema",
    "platformdirs": "platformdirs",
    "watchdog": "watchdog",
}
#: What the panel imports. Once loaded, they stay: qtpy changes Qt's classes.
PANEL = ["qtpy", "packaging"]
#: What our own files quote at length, and so is listed with its licence: here the strings that
#: every SDK for capability requests shares, in ``callboard/demand/mcpeye_strings.py``.
QUOTED = ["mcpeye"]
#: The oldest Python of the hosts.
OLDEST_PYTHON = "3.10"

_PRIVATE = {*NEEDED.values(), *PANEL}
_SYNTAX = (3, 10)


def library(packages: Sequence[str]) -> tuple[Files, list[Path]]:
    """The files of a folder for ``sys.path`` with our packages and all that they import, and the
    wheels that these came from or quote. Raises BuildError."""
    others, carried = _others()
    return {**others, **privately(our_files(packages), _PRIVATE)}, [*carried]


@cache
def _others() -> tuple[Files, list[Path]]:
    # Their Python files are the same on every machine; compiled parts are left out.
    carried = wheels([*NEEDED, *PANEL, *QUOTED], targets(OLDEST_PYTHON)[0])
    return vendored(carried, _PRIVATE), carried


def check_library(names: Collection[str], packages: Sequence[str]) -> None:
    """That a folder with these files makes nothing importable but what is ours. Raises
    BuildError."""
    for name in names:
        if name.partition("/")[0] not in (*packages, NAMESPACE):
            raise BuildError(f"{name} would be importable under somebody else's name")
        if name.endswith((".so", ".pyd", ".dll", ".dylib")):
            raise BuildError(f"{name} fits one machine only")


def check_imports(name: str, source: bytes) -> None:
    """That the oldest Python reads this file, and that it imports nothing that we bring by the
    name under which somebody else may have loaded it. Raises BuildError."""
    try:
        tree = ast.parse(source, name, feature_version=_SYNTAX)
    except SyntaxError as error:
        raise BuildError(f"Python {OLDEST_PYTHON} can't read {name}: {error}") from None
    for node in ast.walk(tree):
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported = [node.module or ""]
        if _PRIVATE.intersection(each.partition(".")[0] for each in imported):
            raise BuildError(f"{name} imports {', '.join(imported)} from outside")
