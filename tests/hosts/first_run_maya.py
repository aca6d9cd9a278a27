"""Tries callboard inside Maya without windows; see first_run.md.

mayapy first_run_maya.py callboard-maya-VERSION.zip
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

from first_run import run


def _version() -> str:
    from maya import cmds

    return str(cmds.about(version=True))


def _undo_is_on(host: Any) -> object:
    from maya import cmds

    return cmds.undoInfo(query=True, state=True)


def _empty_chunk(host: Any) -> object:
    return repr(host.undo.commit(host.undo.begin("callboard: nothing")))


def _conditions(host: Any) -> object:
    import maya.api.OpenMaya as om

    there = om.MConditionMessage.getConditionNames()
    return [name for name in ("playingBack", "playblasting", "busy") if name in there]


if __name__ == "__main__":
    sys.exit(
        run(
            "maya",
            sys.argv[1],
            _version,
            {
                "Undo is on in mayapy (expected: True)": _undo_is_on,
                "An empty undo chunk leaves no step (expected: None)": _empty_chunk,
                "Conditions that are there in batch (expected: any)": _conditions,
            },
        )
    )
