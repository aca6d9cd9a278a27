"""Files, undo, the playbar, and Houdini's information about itself."""

from __future__ import annotations

import pickle
import re
from contextlib import contextmanager
from pathlib import Path

from . import _enums as enums
from ._errors import OperationFailed
from ._math import Vector2
from ._session import guarded, guarded_function, session

_MAGIC = b"070707"


@guarded
class hipFile:
    @staticmethod
    def path():
        return session.file or "/untitled.hip"

    @staticmethod
    def setName(file_name):
        session.file = "" if file_name == "/untitled.hip" else file_name

    @staticmethod
    def isNewFile():
        return not session.file

    @staticmethod
    def hasUnsavedChanges():
        return session.modified

    @staticmethod
    def clear(suppress_save_prompt=False):
        _prompt(suppress_save_prompt)
        _tell("BeforeClear")
        _replace(session.new_scene())
        _tell("AfterClear")

    @staticmethod
    def load(file_name, suppress_save_prompt=False, ignore_load_warnings=False):
        _prompt(suppress_save_prompt)
        _tell("BeforeLoad")
        # Houdini drops the open scene before it reads the new one.
        _replace(session.new_scene())
        try:
            data = Path(file_name).read_bytes()
            if not data.startswith(_MAGIC):
                raise ValueError
            session.scene = pickle.loads(data[len(_MAGIC) :])
        except (OSError, ValueError, pickle.UnpicklingError, EOFError):
            raise OperationFailed("Unable to open file.") from None
        finally:
            _tell("AfterLoad")
        session.file = file_name
        session.variables["HIP"] = str(Path(file_name).parent)

    @staticmethod
    def save(file_name=None, save_to_recent_files=True):
        if file_name is None and not session.file:
            raise RuntimeError("this would open a modal prompt: the scene has no name")
        session.file = file_name or session.file
        _tell("BeforeSave")
        try:
            Path(session.file).write_bytes(_MAGIC + pickle.dumps(session.scene))
        except OSError:
            raise OperationFailed("Unable to save file.") from None
        finally:
            _tell("AfterSave")
        session.modified = False
        session.variables["HIP"] = str(Path(session.file).parent)

    @staticmethod
    def addEventCallback(callback):
        session.file_callbacks.append(callback)

    @staticmethod
    def removeEventCallback(callback):
        _remove(session.file_callbacks, callback)


def _prompt(suppressed):
    if session.modified and session.windows and not suppressed:
        raise RuntimeError("this would open a modal prompt: the scene has unsaved changes")


def _replace(scene):
    session.scene, session.file, session.modified = scene, "", False
    session.forget_undo()


def _tell(name):
    session.tell(session.file_callbacks, getattr(enums.hipFileEventType, name))


def _remove(callbacks, callback):
    # Callbacks are compared by identity, although Python makes a new object on each access to a
    # method.
    for index, each in enumerate(callbacks):
        if each is callback:
            del callbacks[index]
            return
    raise OperationFailed("The callback was not registered.")


@guarded
class undos:
    @staticmethod
    def areEnabled():
        return session.undo_on

    @staticmethod
    def group(label, editor=None):
        return _group(label)

    @staticmethod
    def disabler():
        return _disabler()

    @staticmethod
    def undoLabels():
        return tuple(label for label, _ in reversed(session.undo))

    @staticmethod
    def performUndo():
        if session.group is not None:
            raise OperationFailed("an undo group is open")
        if not session.undo:
            return False
        label, scene = session.undo.pop()
        session.redo.append((label, session.snapshot()))
        session.put_back(scene)
        session.modified = True
        session.report(_root_changed)
        return True

    @staticmethod
    def redoLabels():
        return tuple(label for label, _ in reversed(session.redo))

    @staticmethod
    def performRedo():
        if not session.redo:
            return False
        label, scene = session.redo.pop()
        session.undo.append((label, session.snapshot()))
        session.put_back(scene)
        session.modified = True
        return True


@contextmanager
def _disabler():
    before, session.undo_on = session.undo_on, False
    try:
        yield
    finally:
        session.undo_on = before


@contextmanager
def _group(label):
    session.depth += 1
    if session.depth == 1:
        session.group = [label, session.snapshot(), False]
    try:
        yield
    finally:
        session.depth -= 1
        if session.depth == 0:
            label, before, touched = session.group
            session.group = None
            if touched:
                session.undo.append((label, before))
                session.redo.clear()


@guarded
class playbar:
    @staticmethod
    def play():
        _played("Started")

    @staticmethod
    def stop():
        _played("Stopped")

    @staticmethod
    def frameRange():
        return Vector2(session.scene.range)

    @staticmethod
    def playbackRange():
        return Vector2(session.scene.playback)

    @staticmethod
    def setFrameRange(start, end):
        if start > end:
            raise OperationFailed("Invalid range.")
        session.scene.range = (float(start), float(end))
        low, high = session.scene.playback
        session.scene.playback = (max(low, float(start)), min(high, float(end)))

    @staticmethod
    def setPlaybackRange(start, end):
        low, high = session.scene.range
        if not low <= start <= end <= high:
            raise OperationFailed("Invalid range.")
        session.scene.playback = (float(start), float(end))

    @staticmethod
    def addEventCallback(callback):
        session.needs_windows("hou.playbar.addEventCallback")
        session.playbar_callbacks.append(callback)

    @staticmethod
    def removeEventCallback(callback):
        _remove(session.playbar_callbacks, callback)


def _root_changed():
    """Report the change to the scene's objects. Houdini doesn't report an undo itself."""
    from ._nodes import _network_event, node

    _network_event("ChildDeleted", node("/obj")._data.id)


def _played(name):
    event = getattr(enums.playbarEvent, name)
    session.tell(session.playbar_callbacks, event, session.scene.frame)


@guarded
class text:
    @staticmethod
    def expandString(str, expand_tilde=True):
        return re.sub(r"\$(\w+)", lambda matched: session.variables.get(matched[1], ""), str)


def isUIAvailable():
    return session.windows


def applicationVersionString():
    return "20.5.999"


def licenseCategory():
    return getattr(enums.licenseCategoryType, session.licence)


def homeHoudiniDirectory():
    return session.preferences


def fps():
    return 24.0


def frame(full_precision=False):
    return session.scene.frame


def setFrame(frame):
    session.scene.frame = float(frame)


def frameToTime(frame):
    return (frame - 1) / 24.0


def hscript(command):
    if command.strip() == "unitlength":
        return (f"{session.unit_length}\n", "")
    if command.strip() == "undoctrl on":
        session.keeps_undo = session.undo_can_be_kept
        return ("", "")
    echoed = re.fullmatch(r"\s*echo\s+(.*?)\s*", command)
    if echoed is None:
        return ("", f"Unknown command: {command.split()[0]}\n")
    return (f"{echoed[1]}\n", "")


for _function in (
    *(isUIAvailable, applicationVersionString, licenseCategory, homeHoudiniDirectory),
    *(fps, frame, setFrame, frameToTime, hscript),
):
    globals()[_function.__name__] = guarded_function(_function)
