"""Runs the scripts of one skill in isolation.

Every loaded skill has its own space of modules, named uniquely for each load. So two skills may
both have a ``_common.py``, and a reloaded skill never sees its older modules. Nothing is imported
before :meth:`SkillScripts.entry` needs it, including modules that only scripts need.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from callboard.calls.entry import Entry, entry_of
from callboard.errors import SkillError
from callboard.skills.model import SkillMetadata, ToolDeclaration, own_name

if TYPE_CHECKING:
    from callboard.skills.module_space import ModuleSpace
    from callboard.skills.vendored import ImportPath

_loads = itertools.count(1)


class SkillUnloaded(SkillError):
    """The scripts belong to a skill that has been unloaded."""


class SkillScripts:
    """The scripts of one load of one skill. Methods may be called from any thread.

    After :meth:`close`, functions that are still running finish on the code they started with.
    ``older`` are the scripts of the load that this one replaces. The code of a file that has run
    and hasn't been saved since is used again if the file breaks later.
    """

    def __init__(self, skill: SkillMetadata, older: SkillScripts | None = None) -> None:
        self._ran = {} if older is None else older.unsaved_since()
        self._skill = skill
        safe = re.sub(r"\W", "_", skill.name)
        self._prefix = f"_callboard_skill_{next(_loads)}_{safe}"
        self._spaces: dict[Path, ModuleSpace] = {}
        self._lock = threading.RLock()
        self._closed = False
        #: Number of threads that are importing a script. The modules that the script imports must
        #: stay findable until these threads finish.
        self._importing = 0
        self._path: ImportPath | None = None

    def entry(self, tool: ToolDeclaration) -> Entry:
        """Return the tool's function, after importing its script at the first call. Raises
        SkillError, which says what to fix, and SkillUnloaded after :meth:`close`."""
        from callboard.skills.module_space import ModuleSpace
        from callboard.skills.vendored import ImportPath, vendor_folder

        script = tool.script
        if script is None:
            raise SkillError(
                f"tool '{tool.name}' of skill '{self._skill.name}' has no script: "
                f"add scripts/{tool.name}.py, or name one as source_file in tools.yaml"
            )
        with self._lock:
            if self._closed:
                raise SkillUnloaded(f"skill '{self._skill.name}' was unloaded; call the tool again")
            self._path = self._path or ImportPath()
            self._path.join(vendor_folder(self._skill.path))
            space = self._spaces.get(script.parent)
            if space is None:
                name = f"{self._prefix}_{len(self._spaces)}"
                space = self._spaces[script.parent] = ModuleSpace(name, script.parent, self._ran)
            self._importing += 1
        try:
            return self._import(space, tool, script)
        finally:
            with self._lock:
                self._importing -= 1
                self._leave_path()

    def _import(self, space: ModuleSpace, tool: ToolDeclaration, script: Path) -> Entry:
        from callboard.skills.dcc_mcp_compat import cancelling
        from callboard.skills.packages import make_importable

        shown = script.relative_to(self._skill.path).as_posix()
        if os.path.realpath(script) != str(script):
            raise SkillError(
                f"'{shown}' has become a link since it was loaded; load the skill again"
            )
        make_importable(self._skill.path)
        try:
            module = space.module((script.stem,))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # This includes SystemExit and similar exceptions, because a script must not end the
            # application.
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            if isinstance(error, ImportError) and (place := self._importer(error)) is not None:
                reason = f"{place}: {reason}"
            raise SkillError(f"'{shown}' can't be imported: {reason}") from error
        entry = entry_of(_function(module, tool, shown), tool.name, shown)
        return cancelling(entry) if space.uses_dcc_mcp else entry

    def unsaved_since(self) -> dict[Path, bytes]:
        """Return the sources of files that ran and are unchanged on the disk. Reads those files."""
        kept: dict[Path, bytes] = {}
        for path, source in [*self._ran.items()]:
            with suppress(OSError):
                if path.is_file() and path.read_bytes() == source:
                    kept[path] = source
        return kept

    def close(self) -> None:
        """Forget the modules. May be called again."""
        with self._lock:
            self._closed = True
            spaces = list(self._spaces.values())
            self._leave_path()
        for space in spaces:
            space.close()

    def _leave_path(self) -> None:
        if self._closed and not self._importing and self._path is not None:
            self._path.leave()

    def _importer(self, error: ImportError) -> str | None:
        """Return the file and the line of the skill's own code that imported the missing module."""
        place = None
        trace = error.__traceback__
        while trace is not None:
            file = Path(trace.tb_frame.f_code.co_filename)
            if file.is_relative_to(self._skill.path):
                place = f"{file.relative_to(self._skill.path).as_posix()}, line {trace.tb_lineno}"
            trace = trace.tb_next
        return place


def _function(module: ModuleType, tool: ToolDeclaration, shown: str) -> Callable[..., Any]:
    for name in tool.entry_names:
        function = getattr(module, name, None)
        if callable(function) and not inspect.isclass(function):
            return function  # type: ignore[no-any-return]
    raise SkillError(f"'{shown}' defines neither main(**arguments) nor {own_name(tool.name)}(…)")
