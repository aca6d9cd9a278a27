"""Running the scripts of one skill without letting them leak.

Every loaded skill has its own space of modules, named uniquely for each load, so that two skills
may both have a ``_common.py`` and a reloaded skill never meets its older self. ``import _common``
and ``from ._common import x`` inside a script find the neighbours in its own folder; every other
import is the interpreter's. Nothing is imported before :meth:`SkillScripts.entry` asks for it.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from callboard.calls.entry import Entry, entry_of
from callboard.errors import SkillError
from callboard.skills.dcc_mcp_compat import cancelling, stand_in
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.packages import PREFIX, make_importable, to_install

_loads = itertools.count(1)


class SkillScripts:
    """The scripts of one load of one skill. Methods may be called from any thread.

    After :meth:`close`, functions that are still running finish on the code they started with.
    """

    def __init__(self, skill: SkillMetadata) -> None:
        self._skill = skill
        safe = re.sub(r"\W", "_", skill.name)
        self._prefix = f"_callboard_skill_{next(_loads)}_{safe}"
        self._spaces: dict[Path, _ModuleSpace] = {}
        self._lock = threading.RLock()
        self._closed = False

    def entry(self, tool: ToolDeclaration) -> Entry:
        """Imports the tool's script at the first call. Raises SkillError, saying what to mend."""
        script = tool.script
        if script is None:
            raise SkillError(
                f"tool '{tool.name}' of skill '{self._skill.name}' has no script: "
                f"add scripts/{tool.name}.py, or name one as source_file in tools.yaml"
            )
        with self._lock:
            if self._closed:
                raise SkillError(f"skill '{self._skill.name}' was unloaded; call the tool again")
            space = self._spaces.get(script.parent)
            if space is None:
                name = f"{self._prefix}_{len(self._spaces)}"
                space = self._spaces[script.parent] = _ModuleSpace(name, script.parent)
        shown = script.relative_to(self._skill.path).as_posix()
        if os.path.realpath(script) != str(script):
            raise SkillError(f"'{shown}' became a link since the skill was loaded; load it again")
        make_importable(self._skill.path)
        try:
            module = space.module((script.stem,))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit and its like included: a script must not end the application.
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            if isinstance(error, ModuleNotFoundError) and error.name:
                reason = f"{reason}; {to_install(error.name)}"
            raise SkillError(f"'{shown}' can't be imported: {reason}") from error
        entry = entry_of(_function(module, tool, shown), tool.name, shown)
        return cancelling(entry) if space.uses_dcc_mcp else entry

    def close(self) -> None:
        """Forgets the modules. Idempotent."""
        with self._lock:
            self._closed = True
            spaces = list(self._spaces.values())
        for space in spaces:
            space.close()


class _ModuleSpace:
    """The modules below one folder.

    Follows the import statement, not the import machinery: nothing is installed into that, so
    nothing must be taken out.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder
        self._modules: dict[tuple[str, ...], ModuleType] = {}
        self._lock = threading.RLock()
        self._closed = False
        #: Whether a script imported anything of dcc-mcp's.
        self.uses_dcc_mcp = False
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        package.__package__ = name
        self._add((), package)

    def module(self, parts: tuple[str, ...]) -> ModuleType:
        """The module ``a.b`` for ``("a", "b")``. What its code raises is raised here."""
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
            # The data model's own way to give code other built-ins: functions keep them for good,
            # so imports inside functions come here too, also after close().
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            self._add(parts, module)
            try:
                _execute(file, module, self._folder)
            except BaseException:
                self._modules.pop(parts, None)
                sys.modules.pop(module.__name__, None)
                raise
            setattr(parent, parts[-1], module)
            return module

    def close(self) -> None:
        with self._lock:
            self._closed = True
            # By prefix: importlib.import_module may have put more there than we did.
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
            # A tool may well be called `copy` or `select`; its neighbours still mean Python's.
            parts[:1] not in self._modules and self._find(parts[:1]) is None
        ):
            self.uses_dcc_mcp = self.uses_dcc_mcp or name.startswith(PREFIX)
            replacement = stand_in(name)
            if replacement is not None:
                return replacement
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if not fromlist:
            self.module(parts)
            return self.module(parts[:1])
        module = self.module(parts)
        for attribute in fromlist:
            below = (*parts, attribute)
            if not hasattr(module, attribute) and self._find(below) is not None:
                setattr(module, attribute, self.module(below))
        return module


def _execute(path: Path, module: ModuleType, folder: Path) -> None:
    # No byte-code cache: it tells edits apart by the second and the size only.
    before = list(sys.path)
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
    finally:
        for added in [p for p in sys.path if p not in before and _below(p, folder)]:
            sys.path.remove(added)


def _below(path: str, folder: Path) -> bool:
    real = Path(os.path.realpath(path))
    return real == folder or folder in real.parents or real == folder.parent


def _function(module: ModuleType, tool: ToolDeclaration, shown: str) -> Callable[..., Any]:
    own = tool.name.replace("-", "_").replace(".", "_")
    # A script of its own is entered through main; one that several tools share, by the tool's name.
    names = ["main", own] if Path(shown).stem in (tool.name, own) else [own, "main"]
    declared = tool.extra.get("entry_point")
    if isinstance(declared, str):
        names.insert(0, declared)
    for name in names:
        function = getattr(module, name, None)
        if callable(function) and not inspect.isclass(function):
            return function  # type: ignore[no-any-return]
    raise SkillError(f"'{shown}' defines neither main(**arguments) nor {own}(…)")
