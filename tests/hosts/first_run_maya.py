"""Tests callboard inside Maya without a GUI; see first_run.md.

mayapy first_run_maya.py callboard-maya-VERSION.zip
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

from first_run import run


def _version() -> str:
    """Return the version. This runs first, so it also loads the translators that the file checks
    need."""
    from maya import cmds

    for plug_in in ("fbxmaya", "objExport", "AbcImport", "AbcExport"):
        with suppress(RuntimeError):
            cmds.loadPlugin(plug_in, quiet=True)
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


def _matrix_in_metres(host: Any) -> object:
    from maya import cmds

    unit = cmds.currentUnit(query=True, linear=True)
    cmds.currentUnit(linear="m")
    try:
        made = host.ports["scene.mutate"].create("cube", "FirstRun", {"size": 1.0})
        cmds.setAttr(f"{made}.translateX", 1.0)
        held = cmds.getAttr(f"{made}.matrix")[12]
        cmds.delete(made)
        return round(held, 6)
    finally:
        cmds.currentUnit(linear=unit)


def _kind_in_usd(host: Any) -> object:
    from maya import cmds

    usd = host.ports.get("usd")
    if usd is None:
        return "there is no mayaUsdPlugin"
    made = host.ports["scene.mutate"].create("cube", "FirstRun", {"size": 1.0})
    with TemporaryDirectory() as folder:
        file = Path(folder, "kind.usda")
        usd.export_usd(str(file), False)
        text = file.read_text("utf-8")
    cmds.delete(made)
    return "callboardKind" in text


def _kind_in_fbx(host: Any) -> object:
    from maya import cmds

    try:
        cmds.loadPlugin("fbxmaya", quiet=True)
    except RuntimeError:
        return "there is no fbxmaya"
    made = host.ports["scene.mutate"].create("cube", "FirstRun", {"size": 1.0})
    with TemporaryDirectory() as folder:
        file = Path(folder, "kind.fbx")
        cmds.file(file.as_posix(), force=True, exportAll=True, type="FBX export")
        data = file.read_bytes()
    cmds.delete(made)
    return b"callboardKind" in data


if __name__ == "__main__":
    sys.exit(
        run(
            "maya",
            "".join(sys.argv[1:2]),
            _version,
            {
                "Undo is on in mayapy (expected: True)": _undo_is_on,
                "An empty undo chunk leaves no step (expected: None)": _empty_chunk,
                "One metre in a matrix (expected: 100.0)": _matrix_in_metres,
                "callboardKind is in a USD export (expected: False)": _kind_in_usd,
                "callboardKind is in an FBX export (expected: any)": _kind_in_fbx,
                "Conditions that are there in batch (expected: any)": _conditions,
            },
        )
    )
