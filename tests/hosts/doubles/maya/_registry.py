"""The calling rules of commands: thread, flags, modes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from ._session import session

COMMANDS: dict[str, Callable[..., Any]] = {}
#: Each command's flags as the newest Maya has them: short name, modes, types (make_facts.py).
_FACTS = json.loads((Path(__file__).parents[2] / "facts/maya.json").read_text(encoding="utf-8"))

#: Flags of plug-ins' commands. No stubs cover them, so they come from the plug-ins' own
#: documentation.
PLUGIN_FLAGS = {
    "mayaUSDImport": "file f parent p primPath pp readAnimData ani shadingMode shd frameRange fr",
    "mayaUSDExport": "file f selection sl defaultUSDFormat duf exportDisplayColor dsp",
    "AbcExport": "jobArg j verbose v preRollStartFrame prs dontSkipUnwrittenFrames duf",
    "arnoldRender": "batch b camera cam height h seq width w",
}
#: Flags of new objects missing from the published facts, though Maya's documentation has them.
LACKING_FLAGS = {"file": "reference namespace", "play": "state", "upAxis": "axis"}
#: Queries missing from the published facts, though Maya's documentation has them.
LACKING = {
    "keyframe": "attribute timeChange valueChange time",
    "optionVar": "name",
    "workspaceControl": "exists",
    "menu": "exists",
}


def command(*, windows: bool = False, undoable: bool = False) -> Callable[..., Any]:
    """Make a function a command. The function is called with long flags only, and with ``mode``
    (create, query or edit) if it accepts a mode."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__.rstrip("_")
        lacking = f"{PLUGIN_FLAGS.get(name, '')} {LACKING_FLAGS.get(name, '')}"
        create = _flags(name, "c") | set(lacking.split())
        edit = _flags(name, "e")
        query = _flags(name, "q") | set(LACKING.get(name, "").split())
        parameters = inspect.signature(function).parameters
        modelled = set(parameters)

        @wraps(function)
        def run(*arguments: Any, **flags: Any) -> Any:
            session.guard(f"cmds.{name}")
            if windows:
                session.needs_windows(f"cmds.{name}")
            mode = _mode(name, flags)
            allowed = {"create": create, "edit": edit, "query": query}[mode]
            for flag in flags:
                if flag not in create | edit | query:
                    raise TypeError(f"Invalid flag '{flag}'")
                if flag not in allowed:
                    raise TypeError(f"{name}: flag '{flag}' can't be used in mode {mode}")
                if flag not in modelled:
                    raise NotImplementedError(f"the double of {name} has no flag '{flag}'")
            if "mode" in modelled:
                flags["mode"] = mode
            elif mode != "create":
                raise NotImplementedError(f"the double of {name} can only create")
            if undoable and mode != "query":
                session.record(name)
            return function(*arguments, **flags)

        COMMANDS[name] = run
        return run

    return register


def _flags(name: str, mode: str) -> set[str]:
    """Return the flags of that mode, by both names."""
    told = {flag: facts.split() for flag, facts in _FACTS["commands"].get(name, {}).items()}
    there = {flag: short for flag, (short, modes, *_) in told.items() if mode in modes}
    return {*there, *there.values()}


def _mode(name: str, flags: dict[str, Any]) -> str:
    query = [flags.pop(flag) for flag in ("query", "q") if flag in flags]
    edit = [flags.pop(flag) for flag in ("edit", "e") if flag in flags]
    if query and edit:
        raise RuntimeError(f"{name}: query and edit can't be used together")
    if any(query) and name == "optionVar":
        flags["name"] = query[0]
    return "query" if any(query) else "edit" if any(edit) else "create"
