"""Commands for the application: versions, units, undo, files, plug-ins, preferences."""

from __future__ import annotations

import base64
import pickle
from functools import partial
from pathlib import Path

from . import _plugins
from . import _references as references
from . import _translators as translators
from ._attribute_commands import LENGTHS, centimetres
from ._registry import command
from ._scene import Scene, new_scene
from ._session import session

_ASCII, _BINARY = b"//Maya ASCII 2025 scene\n", b"FOR8"


@command()
def about(batch=False, version=False):
    if batch:
        return session.batch
    if version:
        return "2025"
    raise NotImplementedError("the double doesn't model other uses of about")


@command()
def currentUnit(linear=None, angle=None, time=None, mode="create"):
    given = {"linear": linear, "angle": angle, "time": time}
    if mode == "query":
        return session.units[next(key for key, asked in given.items() if asked)]
    before = centimetres()
    session.units.update({key: value for key, value in given.items() if value is not None})
    _count_again(before / centimetres())
    return None


def _count_again(factor: float) -> None:
    """Convert all lengths to another unit, so that objects keep their real size."""
    if factor == 1.0:
        return
    for node in session.scene.nodes.values():
        for name in LENGTHS & node.attributes.keys():
            value = node.attributes[name]
            many = isinstance(value, list)
            node.attributes[name] = [v * factor for v in value] if many else value * factor
        for channel, keys in node.keys.items():
            if channel[:-1] in LENGTHS:
                node.keys[channel] = {frame: value * factor for frame, value in keys.items()}
        if node.mesh is not None:
            node.mesh.points = [[v * factor for v in point] for point in node.mesh.points]


@command()
def upAxis(axis=None, mode="create"):
    if mode == "query":
        return session.up_axis
    session.up_axis = axis
    return None


@command()
def workspace(
    rootDirectory=False, expandName=None, fileRule=None, fileRuleEntry=None, mode="create"
):
    if fileRule is not None:
        name, folder = fileRule
        session.file_rules[name] = folder
        return None
    if fileRuleEntry is not None:
        return session.file_rules.get(fileRuleEntry, "")
    if expandName is not None:
        return str(Path(session.workspace, expandName))
    if mode != "query" or not rootDirectory:
        raise NotImplementedError("the double doesn't model other uses of workspace")
    return f"{session.workspace}/"


@command()
def optionVar(name=None, exists=None, intValue=None, remove=None, mode="create"):
    if mode == "query":
        return session.options.get(name, 0)
    if exists is not None:
        return exists in session.options
    if remove is not None:
        session.options.pop(remove, None)
    else:
        session.options[intValue[0]] = int(intValue[1])
    return None


@command()
def warning(text):
    session.warnings.append(text)


# -- undo -----------------------------------------------------------------------------------------


@command()
def undoInfo(
    chunkName="", closeChunk=False, infinity=False, length=0, openChunk=False, state=None,
    redoName=False, stateWithoutFlush=None, undoName=False, undoQueueEmpty=False, mode="create",
):  # fmt: skip
    if mode == "query":
        if undoName:
            return session.undo[-1][0] if session.undo else ""
        if redoName:
            return session.redo[-1][0] if session.redo else ""
        return session.undo_on if state else not session.undo
    if openChunk:
        session.open_chunk(chunkName)
    elif closeChunk:
        session.close_chunk()
    elif state is not None:
        session.undo_on = bool(state)
        if not state:
            session.flush()
    elif stateWithoutFlush is not None:
        session.undo_on = bool(stateWithoutFlush)
    return None


@command()
def undo():
    if session.chunk is not None:
        raise RuntimeError("a chunk is open")
    if not session.undo:
        raise RuntimeError("There are no more commands to undo.")
    name, before = session.undo.pop()
    session.redo.append((name, session.scene))
    session.scene = before
    session.modified = True
    session.report(partial(session.tell, "event", "Undo"))


@command()
def redo():
    if not session.redo:
        raise RuntimeError("There are no more commands to redo.")
    name, after = session.redo.pop()
    session.undo.append((name, session.scene))
    session.scene = after
    session.modified = True
    session.tell("event", "Redo")


# -- files ----------------------------------------------------------------------------------------


@command()
def file(
    *paths,
    executeScriptNodes=True,
    force=False,
    modified=None,
    new=False,
    open=False,
    namespace=None,
    prompt=True,
    i=False,
    exportAll=False,
    exportSelected=False,
    importFrameRate=False,
    options="",
    reference=False,
    rename=None,
    save=False,
    sceneName=False,
    type=None,
    mode="create",
):
    if mode == "query":
        if reference:
            return list(session.scene.references)
        return session.file if sceneName else session.modified
    if reference:
        return references.add(scene_in(paths[0]), paths[0], namespace)
    if modified is not None:
        session.modified = bool(modified)
        return session.modified
    if rename is not None:
        session.file = rename
        return rename
    if new or open:
        if session.modified and not force:
            raise RuntimeError("this would open a modal prompt: the scene has unsaved changes")
        return _new() if new else _open(paths[0], prompt)
    if save:
        return _save(type)
    if i:
        translators.read(paths[0], type)
        return paths[0]
    if exportAll or exportSelected:
        if Path(paths[0]).exists() and not force:
            raise RuntimeError("this would open a modal prompt: the file exists")
        translators.write(paths[0], type, exportSelected)
        return paths[0]
    raise NotImplementedError("the double doesn't model other uses of file")


def _new() -> str:
    session.tell("scene", 1)
    session.scene, session.file, session.modified = new_scene(), "", False
    session.flush()
    session.tell("scene", 2)
    session.tell("event", "NewSceneOpened")
    return "untitled"


def _open(path: str, prompt: bool) -> str:
    if prompt and not session.batch:
        raise RuntimeError("this would open a modal prompt: a file may have missing references")
    session.tell("scene", 5)
    # Maya drops the open scene before it reads the new one.
    session.scene, session.file, session.modified = new_scene(), "", False
    session.flush()
    try:
        session.scene = scene_in(path)
    finally:
        session.tell("scene", 6)
    session.file = path
    session.tell("event", "SceneOpened")
    return path


def scene_in(path: str) -> Scene:
    try:
        data = Path(path).read_bytes()
        if data.startswith(_ASCII):
            data = base64.b64decode(data[len(_ASCII) :], validate=True)
        elif data.startswith(_BINARY):
            data = data[len(_BINARY) :]
        else:
            raise ValueError
        scene: Scene = pickle.loads(data)
    except (OSError, ValueError, pickle.UnpicklingError, EOFError):
        raise RuntimeError("Error reading file.") from None
    return scene


def _save(type: str | None) -> str:
    if not session.file:
        raise RuntimeError("this would open a modal prompt: the scene has no name")
    suffix = {"mayaAscii": ".ma", "mayaBinary": ".mb"}
    if type is not None and Path(session.file).suffix != suffix[type]:
        raise RuntimeError(f"'{session.file}' does not fit the type {type}")
    session.tell("scene", 12)
    data = pickle.dumps(session.scene)
    written = _ASCII + base64.b64encode(data) if session.file.endswith(".ma") else _BINARY + data
    try:
        Path(session.file).write_bytes(written)
    except OSError:
        raise RuntimeError("Could not save file.") from None
    finally:
        session.tell("scene", 13)
    session.modified = False
    session.tell("event", "SceneSaved")
    return session.file


# -- plug-ins ------------------------------------------------------------------------------------


@command()
def loadPlugin(*paths, quiet=False):
    return [_plugins.load(path) for path in paths]


@command()
def unloadPlugin(*names, force=False):
    for name in names:
        _plugins.unload(name)


@command()
def pluginInfo(*names, loaded=False, mode="create"):
    if mode != "query" or not loaded:
        raise NotImplementedError("the double doesn't model other uses of pluginInfo")
    return names[0] in session.plugins
