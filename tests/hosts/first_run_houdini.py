"""Tests callboard inside Houdini without a GUI; see first_run.md.

hython first_run_houdini.py callboard-houdini-VERSION.zip
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

from first_run import run


def _version() -> str:
    import hou

    return f"{hou.applicationVersionString()} {hou.licenseCategory()}"


def _records_undo(host: Any) -> object:
    import hou

    token = host.undo.begin("callboard: a step")
    node = hou.node("/obj").createNode("geo")
    done = host.undo.commit(token), hou.undos.undoLabels()[:1]
    node.destroy()
    return done


def _unit(host: Any) -> object:
    import hou

    return hou.hscript("unitlength")


if __name__ == "__main__":
    sys.exit(
        run(
            "houdini",
            "".join(sys.argv[1:2]),
            _version,
            {
                "hython records undo once it is told to (an id and our label, or neither)": (
                    _records_undo
                ),
                "unitlength holds the unit in metres (expected: 1 first)": _unit,
            },
        )
    )
