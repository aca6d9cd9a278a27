"""Commands that describe other commands and node types."""

from __future__ import annotations

import copy

from ._registry import COMMANDS, command
from ._scene import ATTRIBUTES
from ._session import session

#: The quick help of some commands, in Maya's own layout.
_FLAGS = {
    "polyCube": (
        "   -e -edit",
        "   -q -query",
        "  -ax -axis                 Length Length Length",
        "  -ch -constructionHistory  on|off",
        "   -h -height               Length",
        "   -n -name                 String",
    ),
    "file": ("   -q -query", "   -f -force", "  -mf -modified             on|off"),
}


@command()
def help(name):
    if session.undo_on:
        # The manual calls this command undoable.
        session.undo.append(("help", copy.deepcopy(session.scene)))
    if name not in COMMANDS:
        raise RuntimeError(f"Command '{name}' not found.")
    lines = "\n".join(_FLAGS.get(name, ()))
    return f"\nSynopsis: {name} [flags] [String...]\nFlags:\n{lines}\n"


@command()
def allNodeTypes():
    return sorted([*ATTRIBUTES, "THdependNode"])


@command()
def attributeInfo(allAttributes=False, type=None):
    if not allAttributes:
        raise NotImplementedError("the double doesn't model listing only some attributes")
    if type not in ATTRIBUTES:
        raise RuntimeError(f"Unknown node type: {type}")
    return sorted(ATTRIBUTES[type])
