"""``maya.api.OpenMaya``: messages, meshes, and what a plug-in needs to be one."""

from __future__ import annotations

from .._attribute_commands import centimetres
from .._dag_commands import one
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


class MSelectionList:
    def __init__(self) -> None:
        session.guard("MSelectionList")
        self._names: list[str] = []

    def add(self, name) -> None:
        one(name)
        self._names.append(name)

    def getDagPath(self, index):
        return MDagPath(self._names[index])


class MDagPath:
    def __init__(self, name) -> None:
        self.name = name


class MPoint:
    def __init__(self, x, y, z) -> None:
        self.x, self.y, self.z, self.w = x, y, z, 1.0


class MFnMesh:
    def __init__(self, path) -> None:
        session.guard("MFnMesh")
        self._mesh = one(path.name).mesh
        if self._mesh is None:
            raise ValueError("MFnMesh: the object is no mesh")

    def getPoints(self):
        unit = centimetres()
        return [MPoint(*(value * unit for value in point)) for point in self._mesh.points]

    def getVertices(self):
        faces = self._mesh.faces
        return [len(face) for face in faces], [index for face in faces for index in face]

    def getUVs(self):
        placed = [uv for face in self._mesh.uvs or () for uv in face]
        return [u for u, _ in placed], [v for _, v in placed]

    def getAssignedUVs(self):
        counts = [len(face) for face in self._mesh.uvs or [()] * len(self._mesh.faces)]
        return counts, list(range(sum(counts)))

    def getUVSetNames(self):
        # Each mesh has one, with UVs or without.
        return ("map1",)

    def numUVs(self, uvSet=""):
        if uvSet not in ("", "map1"):
            raise RuntimeError("(kInvalidParameter): No element at given index")
        return len(self.getUVs()[0])

    @property
    def numFaceVertices(self):
        return sum(len(face) for face in self._mesh.faces)

    @property
    def numEdges(self):
        return len(self._mesh.edges())

    def isEdgeSmooth(self, edgeId):
        return self._mesh.edges()[edgeId] not in self._mesh.hard

    @property
    def numNormals(self):
        return self.numFaceVertices

    def isNormalLocked(self, normalId):
        return self._mesh.locked
