"""The files that archives add to interpreters with many plug-ins: our packages, and the packages
that they import, under a private name. The same files work on every machine, with Python 3.10 and
later.
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

#: The packages that the server imports: their names for pip and for Python.
NEEDED = {
    "tornado": "tornado",
    "PyYAML": "yaml",
    "fastjsonschema": "fastjsonschema",
    "platformdirs": "platformdirs",
    "watchdog": "watchdog",
}
#: The package that the panel imports. Once loaded, it stays loaded, because it changes Qt's
#: classes.
PANEL = ["qtpy"]
#: Packages that our own files quote at length, and that are therefore listed with their licenses.
#: ``callboard/demand/mcpeye_strings.py`` has the strings that every SDK for capability requests
#: shares.
QUOTED = ["mcpeye"]
#: Modules that the packages import only on systems without our hosts, for type checkers, to read a
#: command line, for Qt's charts, or around a compiled part, which we leave out.
UNUSED = ["tornado.options", "watchdog.tricks", "platformdirs.android", "platformdirs.ios"]
UNUSED += ["watchdog.observers.fsevents", "yaml.cyaml", "qtpy.QtDataVisualization"]
#: The oldest Python that any of the hosts runs.
OLDEST_PYTHON = "3.10"

_PRIVATE = frozenset({*NEEDED.values(), *PANEL})
_SYNTAX = (3, 10)


def library(packages: Sequence[str]) -> tuple[Files, list[Path]]:
    """Return the files of a folder that goes on ``sys.path`` and holds our packages and everything
    that they import. Also return the wheels that these files were copied from, or that they quote
    from. Raises BuildError."""
    others, carried = _others()
    ours = privately(our_files(packages), _PRIVATE)
    return {**_imported(others, ours), **ours}, [*carried]


def _imported(others: Files, ours: Files) -> Files:
    """Return the third-party modules that ours import, directly or through other third-party
    modules, even inside functions. The others, such as Tornado's clients, aren't needed."""
    named: dict[str, str] = {}
    for name in {**others, **ours}:
        if name.endswith(".py"):
            named[name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = name
    to_do = [module for module, name in named.items() if name in ours]
    seen = set(to_do)
    unused = {f"{NAMESPACE}.{module}" for module in UNUSED}
    while to_do:
        module = to_do.pop()
        name = named[module]
        inside = module if name.endswith("/__init__.py") else module.rpartition(".")[0]
        source = ours[name] if name in ours else others[name]
        fresh = {each for each in _names_in(source, inside) if each in named} - seen - unused
        seen |= fresh
        to_do += fresh
    kept = {named[module] for module in seen}
    return {name: data for name, data in others.items() if name in kept or name[-3:] != ".py"}


@cache
def _names_in(source: bytes, package: str) -> frozenset[str]:
    """Return the modules that the source's imports may refer to, with the packages that contain
    each."""
    names: set[str] = set()
    above = package.split(".")
    for node in ast.walk(ast.parse(source)):
        dotted: list[str] = []
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*above[: len(above) - node.level + 1]] if node.level else []
            base += [node.module] if node.module else []
            dotted = [".".join([*base, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            dotted = [node.value]  # a string may name a module to be imported
        for each in dotted:
            parts = each.split(".")
            names.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return frozenset(names)


@cache
def _others() -> tuple[Files, list[Path]]:
    # The packages' Python files are the same on every machine, and compiled parts are left out.
    carried = wheels([*NEEDED, *PANEL, *QUOTED], targets(OLDEST_PYTHON)[0])
    return vendored(carried, _PRIVATE), carried


def check_library(names: Collection[str], packages: Sequence[str]) -> None:
    """Check that a folder with these files makes nothing but our own packages importable. Raises
    BuildError."""
    for name in names:
        if name.partition("/")[0] not in (*packages, NAMESPACE):
            raise BuildError(f"{name} would be importable under another package's name")
        if name.endswith((".so", ".pyd", ".dll", ".dylib")):
            raise BuildError(f"{name} works on one kind of machine only")


def check_imports(name: str, source: bytes) -> None:
    """Check that the oldest Python can read this file, and that the file imports none of the
    bundled packages by its public name, under which another plug-in may have loaded that package.
    Raises BuildError."""
    try:
        public = _public_imports(source)
    except SyntaxError as error:
        problem = f"{name}, line {error.lineno}: {error.msg}"
        raise BuildError(f"Python {OLDEST_PYTHON} can't read {problem}") from None
    for imported in public:
        raise BuildError(
            f"{name} imports {imported} by its public name instead of our private copy"
        )


@cache  # Every archive has the same files.
def _public_imports(source: bytes) -> list[str]:
    """Return the bundled packages' modules that the source imports by their public names. Raises
    SyntaxError if the oldest Python can't read it."""
    public: list[str] = []
    for node in ast.walk(ast.parse(source, feature_version=_SYNTAX)):
        imported: list[str] = []
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported = [node.module or ""]
        public += [each for each in imported if each.partition(".")[0] in _PRIVATE]
    return public
