"""``maya.api.OpenMaya``: messages, meshes, and the parts that a plug-in needs."""

from __future__ import annotations

import rays

from .. import _matrices as mx
from .._attribute_commands import centimetres
from .._cameras import frustum
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
            raise TypeError("this message needs a different kind of callback")
        return session.listen("scene", message, function)

    @staticmethod
    def addStringArrayCallback(message, function, clientData=None) -> int:
        session.guard("MSceneMessage.addStringArrayCallback")
        if message not in (40, 41, 42, 43):
            raise TypeError("this message needs a different kind of callback")
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
        # The conditions available in batch mode aren't documented.
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

    def extendToShape(self):
        shape = session.scene.shape(one(self.name))
        if shape is None:
            raise RuntimeError("(kInvalidParameter): Object is incompatible with this method")
        self.name = session.scene.path(shape)
        return self

    def inclusiveMatrix(self):
        node = one(self.name)
        transform = node if node.type == "transform" else session.scene.nodes[node.parent]
        *axes, place = session.scene.world(transform)
        return MMatrix([*axes, [*(value * centimetres() for value in place[:3]), 1.0]])


class MMatrix:
    def __init__(self, rows) -> None:
        self._rows = rows


class MSpace:
    kWorld = 4


class MPoint:
    def __init__(self, x, y, z) -> None:
        self.x, self.y, self.z, self.w = x, y, z, 1.0

    def __mul__(self, matrix):
        if not isinstance(matrix, MMatrix):
            raise TypeError("a point can only be multiplied by a matrix")
        return MPoint(*mx.apply([self.x, self.y, self.z], matrix._rows))


class MFloatPoint:
    def __init__(self, x, y, z) -> None:
        self.x, self.y, self.z = x, y, z


class MFloatVector(MFloatPoint):
    pass


class MFnCamera:
    def __init__(self, path) -> None:
        session.guard("MFnCamera")
        self._node = one(path.name)
        if self._node.type != "camera":
            raise ValueError("MFnCamera: the object isn't a camera")
        self.nearClippingPlane = self._node.attributes["nearClipPlane"] * centimetres()
        self.farClippingPlane = self._node.attributes["farClipPlane"] * centimetres()
        self.panZoomEnabled = False

    def isOrtho(self):
        return bool(self._node.attributes["orthographic"])

    def getViewingFrustum(
        self, windowAspect, applyOverscan=False, applySqueeze=False, applyPanZoom=False
    ):
        if applySqueeze or applyPanZoom:
            raise NotImplementedError("the double doesn't model squeezed or panned views")
        return self.getRenderingFrustum(windowAspect)

    def getRenderingFrustum(self, windowAspect):
        return [side * centimetres() for side in frustum(self._node.attributes, windowAspect)]


class MFnMesh:
    def __init__(self, path) -> None:
        session.guard("MFnMesh")
        self._node = one(path.name)
        self._mesh = self._node.mesh
        if self._node.type != "mesh":
            raise ValueError("MFnMesh: the object isn't a mesh")

    def getPoints(self):
        unit = centimetres()
        return [MPoint(*(value * unit for value in point)) for point in self._mesh.points]

    def closestIntersection(
        self, raySource, rayDirection, space, maxParam, testBothDirections, *others, **named
    ):
        if others or named or testBothDirections or space != MSpace.kWorld:
            raise NotImplementedError("the double doesn't model other intersections")
        if not isinstance(raySource, MFloatPoint) or not isinstance(rayDirection, MFloatVector):
            raise TypeError("an MFloatPoint and an MFloatVector are needed")
        start, along = ([each.x, each.y, each.z] for each in (raySource, rayDirection))
        world = session.scene.world(session.scene.nodes[self._node.parent])
        unit = centimetres()
        placed = (mx.apply(point, world) for point in self._mesh.points)
        points = [[value * unit for value in point] for point in placed]
        every = [at for at, _ in rays.met(points, self._mesh.faces, start, along)]
        hits = [at for at in every if at <= maxParam]
        if not hits:
            return None
        at = min(hits)
        place = MFloatPoint(*(a + at * b for a, b in zip(start, along, strict=True)))
        return place, at, 0, 0, 0.0, 0.0

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
        # Each mesh has one, even without UVs.
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
