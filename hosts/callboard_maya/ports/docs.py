"""The ``docs`` port: Maya's documentation of its commands and node types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from maya import cmds

from callboard.content import Json
from callboard.host import MOST_LISTED, DocEntry, KeptDocs
from callboard_maya.application.undo import unnoticed

#: A line of a command's quick help: ``-ax -axis   Length Length Length``.
_FLAG = re.compile(r"\s*-(\w+) -(\w+)\s*(.*)")


class MayaDocs(KeptDocs):
    """Entries for commands, including those of plug-ins, as ``cmds.NAME``, and for node types."""

    def _read(self) -> Iterator[DocEntry]:
        for name in dir(cmds):
            if not name.startswith("_") and callable(getattr(cmds, name, None)):
                yield DocEntry(f"cmds.{name}", "command", _quick_help(name))
        for name in cmds.allNodeTypes():
            yield DocEntry(str(name), "node type", "")

    def details(self, entry: DocEntry) -> Json:
        if entry.kind == "command":
            flags = [
                {"name": flag[2], "short": flag[1], "type": " ".join(flag[3].split())}
                for line in entry.text.splitlines()
                if (flag := _FLAG.fullmatch(line))
            ]
            return {"flags": flags[:MOST_LISTED]}
        try:
            attributes = cmds.attributeInfo(allAttributes=True, type=entry.name) or []
        except RuntimeError:  # This is a base type, or its plug-in was unloaded.
            return {}
        return {"attributes": [str(name) for name in attributes][:MOST_LISTED]}


def _quick_help(command: str) -> str:
    """Return Maya's short help for a command, or an empty string."""
    # According to the published stubs, this command returns nothing.
    ask: Any = cmds.help
    # Maya records a help request as an undo step.
    with unnoticed():
        try:
            return str(ask(command) or "").strip()
        except RuntimeError:
            return ""
