"""``maya.api.OpenMaya``: messages, and what a plug-in needs to be one."""

from __future__ import annotations

from .._session import session

MObject = object

_EVENTS = (
    *("DagObjectCreated", "NameChanged", "SelectionChanged", "Undo", "Redo"),
    *("SceneOpened", "NewSceneOpened", "SceneSaved", "workspaceChanged"),
)
_CONDITIONS = ("playingBack", "playblasting", "busy")


class MMessage:
    @staticmethod
    def removeCallback(id: int) -> None:
        session.guard("MMessage.removeCallback")
        if id not in session.callbacks:
            raise RuntimeError("there is no such callback")
        del session.callbacks[id]


class MSceneMessage(MMessage):
    kBeforeNew, kAfterNew, kBeforeOpen, kAfterOpen = 1, 2, 5, 6
    kBeforeSave, kAfterSave = 12, 13
    kBeforeSoftwareRender, kAfterSoftwareRender = 24, 25
    kMayaInitialized, kMayaExiting = 29, 30
    kBeforePluginLoad, kAfterPluginLoad, kBeforePluginUnload, kAfterPluginUnload = 40, 41, 42, 43

    @staticmethod
    def addCallback(message, function, clientData=None) -> int:
        session.guard("MSceneMessage.addCallback")
        if message in (40, 41, 42, 43):
            raise TypeError("this message has a callback of its own kind")
        return session.listen("scene", message, function)

    @staticmethod
    def addStringArrayCallback(message, function, clientData=None) -> int:
        session.guard("MSceneMessage.addStringArrayCallback")
        if message not in (40, 41, 42, 43):
            raise TypeError("this message has a callback of its own kind")
        return session.listen("strings", message, function)


class MEventMessage(MMessage):
    @staticmethod
    def addEventCallback(event, function, clientData=None) -> int:
        session.guard("MEventMessage.addEventCallback")
        if event not in _EVENTS:
            raise RuntimeError(f"there is no event '{event}'")
        return session.listen("event", event, function)


class MConditionMessage(MMessage):
    @staticmethod
    def addConditionCallback(condition, function, clientData=None) -> int:
        session.guard("MConditionMessage.addConditionCallback")
        # Which conditions there are in batch mode isn't documented.
        if condition not in _CONDITIONS or (session.batch and condition == "playblasting"):
            raise RuntimeError(f"there is no condition '{condition}'")
        return session.listen("condition", condition, function)

    @staticmethod
    def getConditionNames() -> list[str]:
        session.guard("MConditionMessage.getConditionNames")
        return [name for name in _CONDITIONS if not (session.batch and name == "playblasting")]


class MFnPlugin:
    def __init__(self, plugin, vendor: str = "Unknown", version: str = "Unknown") -> None:
        session.guard("MFnPlugin")
        self.vendor, self.version = vendor, version
