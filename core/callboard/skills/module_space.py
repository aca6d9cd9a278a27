"""The modules of one skill's scripts, invisible to every other skill's code.

``import _common`` and ``from ._common import x`` inside a script find the neighbors in its own
folder. Every other import goes to the interpreter.
"""

from __future__ import annotations

import builtins
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from callboard.skills.dcc_mcp_compat import stand_in
from callboard.skills.packages import PREFIX, to_install


class ModuleSpace:
    """The modules below one folder.

    It replaces ``__import__`` in its own modules only. It installs nothing in the import machinery,
    so nothing has to be removed.
    """

    def __init__(self, name: str, folder: Path, ran: dict[Path, bytes]) -> None:
        """``ran`` has the sources of files that have run, for use when a file no longer parses."""
        self._ran = ran
        self._name = name
        self._folder = folder
        self._modules: dict[tuple[str, ...], ModuleType] = {}
        self._lock = threading.RLock()
        self._closed = False
        #: True once a script imported one of dcc-mcp's packages.
        self.uses_dcc_mcp = False
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        package.__package__ = name
        self._add((), package)

    def module(self, parts: tuple[str, ...]) -> ModuleType:
        """Return the module ``a.b`` for ``("a", "b")``. Raises any exception that the module's code
        raises."""
        with self._lock:
            if parts in self._modules:
                return self._modules[parts]
            parent = self.module(parts[:-1])
            file = self._find(parts)
            if file is None:
                raise ModuleNotFoundError(
                    f"No module named '{'.'.join(parts)}'", name=".".join(parts)
                )
            module = ModuleType(".".join((self._name, *parts)))
            module.__file__ = str(file)
            if file.name == "__init__.py":
                module.__path__ = [str(file.parent)]
                module.__package__ = module.__name__
            else:
                module.__package__ = parent.__name__
            # The data model's own way to give code different built-ins. Functions keep them, so
            # imports inside functions are handled here too, even after close().
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            self._add(parts, module)
            try:
                _execute(file, module, self._folder, self._ran)
            except BaseException:
                self._modules.pop(parts, None)
                sys.modules.pop(module.__name__, None)
                raise
            setattr(parent, parts[-1], module)
            return module

    def close(self) -> None:
        with self._lock:
            self._closed = True
            # Modules are removed by prefix, because importlib.import_module may have added more
            # than we did.
            for name in [
                n for n in sys.modules if n == self._name or n.startswith(self._name + ".")
            ]:
                del sys.modules[name]

    def _add(self, parts: tuple[str, ...], module: ModuleType) -> None:
        self._modules[parts] = module
        if not self._closed:
            # dataclasses, pickle and typing look a class's module up here.
            sys.modules[module.__name__] = module

    def _find(self, parts: tuple[str, ...]) -> Path | None:
        if not parts or not all(part.isidentifier() or len(parts) == 1 for part in parts):
            return None
        base = self._folder.joinpath(*parts)
        for candidate in (base / "__init__.py", base.with_name(base.name + ".py")):
            if candidate.is_file():
                return candidate
        return None

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        parts = tuple(name.split(".")) if name else ()
        if level:
            package = str((globals or {}).get("__package__", ""))
            here = tuple(package.split(".")[1:])
            if level - 1 > len(here):
                raise ImportError("attempted relative import beyond the scripts' folder")
            parts = (*here[: len(here) - level + 1], *parts)
        elif parts[0] in sys.stdlib_module_names or (
            # A tool may well be called `copy` or `select`, but the scripts beside it still mean
            # Python's module.
            parts[:1] not in self._modules and self._find(parts[:1]) is None
        ):
            self.uses_dcc_mcp = self.uses_dcc_mcp or name.startswith(PREFIX)
            try:
                replacement = stand_in(name)
                if replacement is not None:
                    return replacement
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            except ModuleNotFoundError as error:
                if error.name and error.name.partition(".")[0] not in sys.modules:
                    error.msg = f"{error.msg}; {to_install(error.name)}"
                raise
        if not fromlist:
            self.module(parts)
            return self.module(parts[:1])
        module = self.module(parts)
        for attribute in fromlist:
            below = (*parts, attribute)
            if not hasattr(module, attribute) and self._find(below) is not None:
                setattr(module, attribute, self.module(below))
        return module


def _execute(path: Path, module: ModuleType, folder: Path, ran: dict[Path, bytes]) -> None:
    # The byte-code cache isn't used, because it notices an edit only if the file's size or the time
    # in whole seconds is different.
    before = list(sys.path)
    source = path.read_bytes()
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        if path not in ran:
            raise
        source = ran[path]
        code = compile(source, str(path), "exec", dont_inherit=True)
    try:
        exec(code, module.__dict__)
        ran[path] = source
    finally:
        for added in list(sys.path):
            own = added not in before and _below(added, folder)
            # A script that adds one of the studio's folders to the path adds it again at every
            # load.
            if own or sys.path.count(added) > max(1, before.count(added)):
                sys.path.remove(added)


def _below(path: str, folder: Path) -> bool:
    real = Path(os.path.realpath(path))
    return real == folder or folder in real.parents or real == folder.parent
