"""Puts third-party packages under a private name, for interpreters that many plug-ins share.

``import tornado`` becomes an import of ``callboard_vendor.tornado``, in the packages themselves and
in ours. So our packages neither hide another plug-in's imports nor are hidden by them. Compiled
parts are left out: every package that we carry works without them. So are docstrings and comments,
which are half of the packages' size in an archive.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import zipfile
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from build_archive import Files
from build_requirements import BuildError

NAMESPACE = "callboard_vendor"

#: qtpy compares Qt's versions, which are numbers and points. The package that it uses for that
#: would be as large as what we carry of qtpy.
_COMPARED = {
    b"\nfrom packaging.version import parse\n": b"\nfrom qtpy import parse\n",
}
_PARSE = b'\nimport re; parse = lambda text: [*map(int, re.findall(r"\\d+", text)), 0, 0, 0][:3]\n'
#: Changes that let two copies of a package live in one process, and leave out what it hardly needs:
#: for each file, the texts to replace and their replacements.
_MENDED = {
    "qtpy/QtCore.py": _COMPARED,
    "qtpy/QtWidgets.py": _COMPARED,
    # The second copy of qtpy finds the method that the first copy added to the base class, and
    # can't delete it.
    "qtpy/QtGui.py": {
        **_COMPARED,
        b"if hasattr(_class, _obsolete_function):": b"if _obsolete_function in vars(_class):",
    },
    # The environment variables are shared, so our copy neither reads another qtpy's settings from
    # them nor writes its own to them. It uses the binding that is already loaded, or else the
    # host's.
    "qtpy/__init__.py": {
        b"\nfrom packaging.version import parse\n": _PARSE,
        b'\nQT_API = "QT_API"\n': b'\nQT_API = "CALLBOARD_QT_API"\n',
        b"os.environ[QT_API] = API": b"pass",
        b'os.environ.get("FORCE_QT_API")': b'os.environ.get("CALLBOARD_FORCE_QT_API")',
        b'os.environ.get(QT_API, "pyqt5").lower()': (
            b'os.environ.get(QT_API, "pyside2" if find_spec("PySide2") else "pyside6").lower()'
        ),
        b"\nimport contextlib\n": b"\nimport contextlib; from importlib.util import find_spec\n",
    },
}

_NOTICE = (
    b"\n# Changed by callboard: imports under a private name, without docstrings and comments.\n"
)


def vendored(wheels: Sequence[Path], packages: frozenset[str]) -> Files:
    """Return the Python files of ``packages`` in the wheels, under the private name."""
    files: Files = {
        f"{NAMESPACE}/__init__.py": b'"""Packages of others that callboard carries."""\n'
    }
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.partition("/")[0] not in packages or re.search(r"/tests?/", name):
                    continue
                if name.endswith(".py"):
                    files[f"{NAMESPACE}/{name}"] = _changed(name, archive, packages)
                elif name.endswith((".pem", ".txt")):
                    files[f"{NAMESPACE}/{name}"] = archive.read(name)
    return files


def _changed(name: str, archive: zipfile.ZipFile, packages: frozenset[str]) -> bytes:
    source = archive.read(name)
    changed = bare(private(_mended(name, source), packages))
    # Licenses require the notice. The notice is at the end, so that lines keep their numbers.
    return changed if changed == source else changed + _NOTICE


def bare(source: bytes) -> bytes:
    """Return ``source`` without docstrings and comments, and with every line where it was. Keep
    what stands above the first statement, and other notices of copyright, as licenses require."""
    text = source.decode()
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
    began = tree.body[0].lineno if tree.body else 0
    lines = text.split("\n")
    for token in reversed([*tokenize.generate_tokens(io.StringIO(text).readline)]):
        (first, start), (last, end) = token.start, token.end
        if token.type == tokenize.STRING and token.start in docs:
            kept = lines[first - 1][:start] + "''" + lines[last - 1][end:]
            lines[first - 1 : last] = [kept, *[""] * (last - first)]
        elif token.type == tokenize.COMMENT and first > began and "opyright" not in token.string:
            lines[first - 1] = lines[first - 1][:start].rstrip()
    return "\n".join(lines).encode()


def _mended(name: str, source: bytes) -> bytes:
    for wrong, right in _MENDED.get(name, {}).items():
        if wrong not in source:
            raise BuildError(f"{name} has changed: check whether it still needs the fix")
        source = source.replace(wrong, right)
    return source


def privately(files: Files, packages: frozenset[str]) -> Files:
    """Return our own files, with ``packages`` imported under the private name."""
    return {
        name: private(data, packages) if name.endswith(".py") else data
        for name, data in files.items()
    }


@cache  # Every archive has the same files.
def private(source: bytes, packages: frozenset[str]) -> bytes:
    """Return ``source`` with every import of ``packages`` rewritten, and nothing else changed."""
    if not any(package.encode() in source for package in packages):
        return source
    lines = source.splitlines(keepends=True)
    renamed = [
        node
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Import) and any(_is_of(a.name, packages) for a in node.names))
        or (isinstance(node, ast.ImportFrom) and not node.level and _is_of(node.module, packages))
    ]
    # Begin at the end, so that earlier lines don't move.
    for node in sorted(renamed, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        assert node.end_lineno is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        before = lines[first][: node.col_offset]
        after = lines[last][node.end_col_offset :]
        new = _statement(node, packages).encode()
        # Keep the number of lines, so that line numbers in tracebacks stay right.
        lines[first : last + 1] = [before + new + after, *([b"\n"] * (last - first))]
    return b"".join(lines)


def _is_of(module: str | None, packages: Collection[str]) -> bool:
    return (module or "").partition(".")[0] in packages


def _statement(node: ast.Import | ast.ImportFrom, packages: Collection[str]) -> str:
    if isinstance(node, ast.ImportFrom):
        names = ", ".join(_alias(alias) for alias in node.names)
        return f"from {NAMESPACE}.{node.module} import {names}"
    statements = []
    for alias in node.names:
        package, _, rest = alias.name.partition(".")
        if package not in packages:
            statements.append(f"import {_alias(alias)}")
        elif alias.asname:
            statements.append(f"import {NAMESPACE}.{alias.name} as {alias.asname}")
        else:
            if rest:
                statements.append(f"import {NAMESPACE}.{alias.name}")
            statements.append(f"from {NAMESPACE} import {package}")
    return "; ".join(statements)


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
