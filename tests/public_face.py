"""Every public name of callboard with its signature, as text.

Skills, bundles, adapters and Python programs import these names. ``tests/public_face.txt`` holds
the text, so that reviewers see a change to the public API. To regenerate it:

    .venv-test/bin/python tests/public_face.py

The text is the same on every supported Python, because annotations are copied from the source, and
the members that Python itself adds to classes are left out.
"""

from __future__ import annotations

import ast
import inspect
import logging
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

SNAPSHOT = Path(__file__).with_suffix(".txt")
#: The command named in the file's heading and in a failing test's message.
COMMAND = "python tests/public_face.py"
MODULES = (
    "callboard",
    "callboard.content",
    "callboard.errors",
    "callboard.extensions",
    "callboard.extensions.request_capability",
    "callboard.host",
    "callboard.skill",
    "callboard_qt",
    "callboard.app",
    "callboard.changes",
    "callboard.guest.inbox",
)
#: Values longer than this many characters are left out of the text, because they are content.
LONGEST_VALUE = 80


class Verbatim:
    """Text that a signature shows unchanged."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def described() -> str:
    """Return the text of the whole public face."""
    testing = import_module("callboard_testing")
    modules = [import_module(name) for name in MODULES]
    modules += [
        import_module(f"callboard_testing.{module.name}")
        for module in pkgutil.iter_modules(testing.__path__)
        if not module.name.startswith("_") and not module.ispkg
    ]
    named = {module: list(public_names(module)) for module in modules}
    face = {
        getattr(module, name)
        for module in modules
        for name in named[module]
        if is_class(module, name)
    }
    shown: dict[tuple[str, int], str] = {}
    lines = [f"# The public face of callboard. Written by `{COMMAND}`."]
    for module in modules:
        lines += ["", module.__name__]
        for name in named[module]:
            # A name that two public modules export is described under the first one only.
            first = shown.setdefault((name, id(getattr(module, name))), module.__name__)
            if first != module.__name__:
                lines.append(f"    {name}: {first}.{name}")
            else:
                lines += [f"    {line}" for line in member(module, name, face)]
    return "\n".join(lines) + "\n"


def is_class(module: ModuleType, name: str) -> bool:
    return inspect.isclass(getattr(module, name))


def public_names(module: ModuleType) -> Iterator[str]:
    """Yield the names that the module exports, or, without ``__all__``, those that it defines
    itself, sorted."""
    names = getattr(module, "__all__", None) or assigned(module)
    for name in sorted(set(names)):
        value = getattr(module, name)
        if not name.startswith("_") and not isinstance(value, (logging.Logger, TypeVar, ParamSpec)):
            yield name


def assigned(module: ModuleType) -> dict[str, ast.expr | None]:
    """Return the names that a module's own statements define, with the values assigned to them."""
    names: dict[str, ast.expr | None] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names[target.id] = node.value
    return names


def member(module: ModuleType, name: str, face: set[type]) -> Iterator[str]:
    """Yield the lines about one name of a module."""
    value = getattr(module, name)
    if inspect.isclass(value) and value.__module__.startswith("callboard"):
        yield from class_lines(value, face)
    elif inspect.isroutine(value):
        yield described_member(name, value)
    else:
        yield f"{name} = {source_of(module, name)}"


def source_of(module: ModuleType, name: str) -> str:
    """Return a constant's value or an alias's meaning as a module's source writes it. If that is
    too long, return its type."""
    value = getattr(module, name)
    expression = assigned(module).get(name)
    if expression is None:
        for other in list(sys.modules.values()):
            home = getattr(other, "__name__", "")
            if home.startswith("callboard") and vars(other).get(name) is value:
                expression = expression or assigned(other).get(name)
    text = repr(value) if isinstance(value, (str, int)) else ""
    if not text and expression is not None:
        text = ast.unparse(expression)
    return text if 0 < len(text) <= LONGEST_VALUE else type(value).__name__


def class_lines(cls: type, face: set[type]) -> Iterator[str]:
    """Yield a class, its constructor and its public members: its own, and those of bases that
    aren't on the face themselves."""
    shown = [base for base in cls.__bases__ if base is not object]
    bases = f"({', '.join(base.__name__ for base in shown)})" if shown else ""
    yield f"class {cls.__name__}{bases}"
    homes = [
        home
        for home in cls.__mro__
        if home is cls or (home.__module__.startswith("callboard") and home not in face)
    ]
    # Python itself makes the constructor of a protocol.
    if any("__init__" in vars(home) for home in homes) and not getattr(cls, "_is_protocol", False):
        yield f"    __init__{signature(cls.__init__)}"  # type: ignore[misc]
    members: dict[str, str] = {}
    # The constructor of a dataclass already lists its fields.
    stated = inspect.signature(cls).parameters if is_dataclass(cls) else ()
    for home in reversed(homes):
        for name, annotation in inspect.get_annotations(home).items():
            if name not in stated:
                members[name] = f"{name}: {annotation}"
        for name, value in vars(home).items():
            if callable(value) or isinstance(value, MEMBERS):
                members[name] = described_member(name, value)
            elif name not in members and name not in stated:
                members[name] = f"{name} = {value!r}" if isinstance(value, (str, int)) else name
    for name in sorted(members):
        if not name.startswith("_"):
            yield f"    {members[name]}"


MEMBERS = (property, cached_property, classmethod, staticmethod)


def described_member(name: str, value: Any) -> str:
    if isinstance(value, property):
        return f"property {name}{returned(value.fget)}"
    if isinstance(value, cached_property):
        return f"property {name}{returned(value.func)}"
    if isinstance(value, (classmethod, staticmethod)):
        return f"{type(value).__name__} {name}{signature(value.__func__)}"
    if inspect.isfunction(value):
        return f"{'async ' * inspect.iscoroutinefunction(value)}def {name}{signature(value)}"
    return name


def returned(function: Any) -> str:
    return f" -> {function.__annotations__.get('return', '?')}"


def signature(function: Any) -> str:
    """Return a signature as the source writes it. A default that isn't a plain value shows as three
    dots."""
    given = inspect.signature(function)
    parameters = [
        parameter.replace(
            annotation=verbatim(parameter.annotation), default=default(parameter.default)
        )
        for parameter in given.parameters.values()
    ]
    return str(
        given.replace(parameters=parameters, return_annotation=verbatim(given.return_annotation))
    )


def verbatim(annotation: Any) -> Any:
    return Verbatim(annotation) if isinstance(annotation, str) else annotation


def default(value: Any) -> Any:
    plain = value is inspect.Parameter.empty or isinstance(
        value, (str, int, float, type(None), tuple)
    )
    return value if plain else Verbatim("...")


if __name__ == "__main__":
    SNAPSHOT.write_text(described(), encoding="utf-8")
    print(f"{SNAPSHOT} has been written; read its diff before you commit it")
