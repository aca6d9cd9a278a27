"""Finds the Python packages that a skill's scripts import, including missing ones."""

from __future__ import annotations

import ast
import importlib.util
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from callboard.skills.dcc_mcp_compat import MODULES, PACKAGE
from callboard.skills.model import SkillMetadata, own_name
from callboard.skills.skill_files import FileProblem, read_text
from callboard.skills.syntax_tree import parsed
from callboard.skills.vendored import package_of, this_python, vendor_folder

PREFIX = "dcc_mcp_"
#: Modules that only an application's own Python has, so only the host knows whether they exist.
HOST_MODULES = frozenset(
    {
        *("bpy", "bmesh", "mathutils", "gpu", "bl_math", "aud", "bpy_extras", "addon_utils"),
        *("maya", "pymel", "mtoa", "hou", "hutil", "toolutils", "pymxs", "MaxPlus", "qtmax"),
        *("pxr", "PySide2", "PySide6", "shiboken2", "shiboken6", "qtpy", "numpy", "callboard"),
    }
)
_adding = threading.Lock()


def package_parent(folder: Path) -> Path | None:
    """Return the parent folder of the package that contains a skill's folder: a folder
    ``dcc_mcp_*`` with an ``__init__.py``. Return None if there is no such package. Accesses the
    disk."""
    for above in folder.parents:
        if above.name.startswith(PREFIX) and (above / "__init__.py").is_file():
            return above.parent
    return None


def make_importable(folder: Path) -> None:
    """Make the package that a skill came with importable for its scripts. The package's parent
    folder is added to the end of the import path, so that it hides nothing."""
    parent = package_parent(folder)
    if parent is not None:
        with _adding:
            if str(parent) not in sys.path:
                sys.path.append(str(parent))


def to_install(module: str) -> str:
    """Return instructions for installing a missing module."""
    root = module.partition(".")[0]
    if root.startswith(PREFIX):
        return f"install it into this application's Python: pip install {root.replace('_', '-')}"
    return (
        f"list the package that has '{root}', by its name for pip, under requires in SKILL.md, and "
        f"run `callboard vendor` for Python {this_python()}; or put it beside the script"
    )


def unresolved(source: str, script: Path, skill: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every missing module that a script imports, read from its syntax
    tree. An import inside a ``try`` is optional and skipped. Accesses the disk."""
    parent, brought = package_parent(skill), vendor_folder(skill)
    for line, name in _needed(source):
        if _has(brought, name.partition(".")[0]):
            continue
        if not _is_there(name, script.parent, parent):
            yield line, name


def missing_imports(script: Path, skill: SkillMetadata) -> Iterator[tuple[str, int, str]]:
    """Yield the file, line and sentence for each missing module that a tool's script, or a script
    in the same folder, imports. While nothing is vendored, a module with the name of a required
    package is skipped, because the message about the requirement reports it."""
    brought = vendor_folder(skill.path).is_dir()
    required = () if brought else {own_name(package_of(each)).lower() for each in skill.requires}
    for file in (script, *neighbours(script, skill.path)):
        try:
            source = read_text(skill.path, file)
        except FileProblem:
            continue
        for line, name in unresolved(source, file, skill.path):
            if name.partition(".")[0].lower() not in required:
                message = f"imports '{name}', which is missing; {to_install(name)}"
                yield file.relative_to(skill.path).as_posix(), line, message


def neighbours(script: Path, skill: Path) -> list[Path]:
    """Return the scripts in the same folder that ``script`` imports, and the scripts that those
    import in turn. The scripts are looked up on disk."""
    known: dict[Path, None] = {}
    waiting = [script]
    while waiting:
        for stem in _beside(waiting.pop(), skill):
            path = script.parent / f"{stem}.py"
            if path != script and path not in known and path.is_file():
                known[path] = None
                waiting.append(path)
    return list(known)


def _beside(script: Path, skill: Path) -> tuple[str, ...]:
    try:
        return _named(read_text(skill, script))
    except FileProblem:
        return ()


# Cached, because the check of each tool also reads the scripts that the tool's script imports.
@lru_cache(256)
def _named(source: str) -> tuple[str, ...]:
    """Return the first part of each module name that a script imports, absolute or relative."""
    names: list[str] = []
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [alias.name for alias in node.names]
    return tuple(dict.fromkeys(name.partition(".")[0] for name in names))


@lru_cache(256)
def _needed(source: str) -> tuple[tuple[int, str], ...]:
    """Return the line and name of the imports that a script can't do without."""
    return tuple(_imports(parsed(source) or ast.Module([], [])))


def _imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Try) and node.handlers:
        for part in (*node.orelse, *node.finalbody):
            yield from _imports(part)
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.lineno, node.module
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _is_there(name: str, beside: Path, parent: Path | None) -> bool:
    root, _, rest = name.partition(".")
    if root in sys.stdlib_module_names or root in HOST_MODULES:
        return True
    if _has(beside, root):
        return True
    if parent is not None and _has(parent, root):
        return not rest or _has(parent.joinpath(root, *rest.split(".")[:-1]), rest.split(".")[-1])
    try:
        if importlib.util.find_spec(root) is not None:
            return True
    except (ImportError, ValueError):
        return False
    return root == PACKAGE and name in MODULES


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or any(folder.glob(f"{name}.*"))
