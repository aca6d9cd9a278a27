"""The scene: nodes, their attributes, connections, keys, selection and time. It is copied as a
whole for each undo step."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from . import _matrices as mx
from ._meshes import Mesh

AXES = "XYZ"
#: Short names of some attributes.
SHORT = {
    f"{letter}{axis.lower()}": f"{whole}{axis}"
    for letter, whole in (("t", "translate"), ("r", "rotate"), ("s", "scale"))
    for axis in AXES
}
ASSEMBLY_TYPES = ("assemblyDefinition", "assemblyReference")
TRANSFORM_TYPES = ("transform", "joint", *ASSEMBLY_TYPES)
#: Attributes of members that their display layer overrides, with the names in the layer.
OVERRIDES = {"overrideEnabled": "enabled", "overrideVisibility": "visibility"}
#: The attributes of every node that can be drawn.
_DRAWN: dict[str, Any] = {
    "overrideEnabled": False,
    "overrideVisibility": True,
    "drawOverride": None,
}

#: Attributes by node type: each name with its value in a new node.
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "transform": {
        "translate": [0.0, 0.0, 0.0],
        "rotate": [0.0, 0.0, 0.0],
        "scale": [1.0, 1.0, 1.0],
        "shear": [0.0, 0.0, 0.0],
        "rotateAxis": [0.0, 0.0, 0.0],
        "rotateOrder": 0,
        "visibility": True,
        "matrix": None,
        **_DRAWN,
    },
    "displayLayer": {"visibility": True, "enabled": True, "displayType": 0, "drawInfo": None},
    "mesh": {
        "inMesh": None,
        "displaySmoothMesh": 0,
        "smoothLevel": 2,
        "useSmoothPreviewForRender": True,
        **_DRAWN,
    },
    "camera": {
        **_DRAWN,
        "startupCamera": False,
        "renderable": False,
        "focalLength": 35.0,
        "horizontalFilmAperture": 1.417,
        "verticalFilmAperture": 0.945,
        "nearClipPlane": 0.1,
        "farClipPlane": 10000.0,
        "lensSqueezeRatio": 1.0,
        "cameraScale": 1.0,
        "filmFit": 0,
        "orthographic": False,
        "depthOfField": False,
        "fStop": 5.6,
        "focusDistance": 5.0,
    },
    "renderGlobals": {
        "currentRenderer": "mayaSoftware",
        "animation": False,
        "imageFilePrefix": None,
        "imageFormat": 7,
    },
    "resolution": {
        "width": 960,
        "height": 540,
        "deviceAspectRatio": 16 / 9,
        "pixelAspect": 1.0,
    },
    "colorManagementGlobals": {"outputTransformEnabled": False},
    "aiAOVDriver": {"aiTranslator": "exr", "colorManagement": 0, "prefix": ""},
    "shadingEngine": {
        "surfaceShader": None,
        "displacementShader": None,
        "volumeShader": None,
        "dagSetMembers": None,
    },
    "standardSurface": {
        "base": 1.0,
        "baseColor": [0.8, 0.8, 0.8],
        "metalness": 0.0,
        "specular": 1.0,
        "specularRoughness": 0.2,
        "specularIOR": 1.5,
        "transmission": 0.0,
        "emission": 0.0,
        "emissionColor": [1.0, 1.0, 1.0],
        "opacity": [1.0, 1.0, 1.0],
        "normalCamera": [0.0, 0.0, 0.0],
        "outColor": [0.0, 0.0, 0.0],
        "message": None,
    },
    "file": {
        "fileTextureName": "",
        "colorSpace": "sRGB",
        "ignoreColorSpaceFileRules": False,
        "useFrameExtension": False,
        "alphaIsLuminance": False,
        "uvCoord": [0.0, 0.0],
        "uvFilterSize": [0.0, 0.0],
        "outColor": [0.0, 0.0, 0.0],
        "outAlpha": 0.0,
        "message": None,
    },
    "place2dTexture": {"outUV": [0.0, 0.0], "outUvFilterSize": [0.0, 0.0], "message": None},
    "bump2d": {
        "bumpInterp": 0,
        "bumpValue": 0.0,
        "outNormal": [0.0, 0.0, 0.0],
        "message": None,
    },
    "objectSet": {"dagSetMembers": None},
    "defaultShaderList": {"shaders": None},
    "defaultTextureList": {"textures": None},
    "defaultRenderUtilityList": {"utilities": None},
    "surfaceShader": {"outColor": [0.0, 0.0, 0.0]},
    "checker": {"outColor": [0.0, 0.0, 0.0]},
}
for _type in ("lambert", "blinn", "phong", "phongE"):
    ATTRIBUTES[_type] = {"color": [0.5, 0.5, 0.5], "outColor": [0.0, 0.0, 0.0]}
#: The values that a place2dTexture passes on to a picture.
PLACED: dict[str, Any] = {
    "coverage": [1.0, 1.0],
    "mirrorU": False,
    "mirrorV": False,
    "noiseUV": [0.0, 0.0],
    "offset": [0.0, 0.0],
    "repeatUV": [1.0, 1.0],
    "rotateFrame": 0.0,
    "rotateUV": 0.0,
    "stagger": False,
    "translateFrame": [0.0, 0.0],
    "vertexCameraOne": [0.0, 0.0, 0.0],
    "vertexUvOne": [0.0, 0.0],
    "vertexUvThree": [0.0, 0.0],
    "vertexUvTwo": [0.0, 0.0],
    "wrapU": True,
    "wrapV": True,
}
for _type in ("file", "place2dTexture"):
    ATTRIBUTES[_type].update(PLACED)
ATTRIBUTES["joint"] = {**ATTRIBUTES["transform"], "jointOrient": [0.0, 0.0, 0.0]}
for _type in ASSEMBLY_TYPES:
    ATTRIBUTES[_type] = {**ATTRIBUTES["transform"], "repNamespace": "", "active": ""}
CHANNELS = [name + axis for name in ("translate", "rotate", "scale") for axis in AXES]


@dataclass
class Node:
    id: int
    name: str
    type: str
    parent: int | None = None
    dag: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    locked: set[str] = field(default_factory=set)
    keys: dict[str, dict[float, float]] = field(default_factory=dict)
    mesh: Mesh | None = None
    #: The referenced file that the node comes from. Empty for the scene's own nodes.
    referenced: str = ""
    #: The id of the assembly that shows the node.
    member_of: int | None = None
    #: A shape's faces by the id of their shading group, unless the group has all of them.
    faces: dict[int, list[int]] = field(default_factory=dict)

    def split(self, attribute: str) -> tuple[str, int | None]:
        """Split ``translateX`` into the attribute and its part. The parts of colors are R, G and B.
        Short names work too."""
        attribute = SHORT.get(attribute, attribute)
        whole = attribute[:-1]
        parts = "RGB" if whole.endswith(("olor", "opacity")) else AXES
        if isinstance(self.attributes.get(whole), list) and attribute[-1:] in parts:
            return whole, parts.index(attribute[-1])
        return attribute, None


@dataclass
class Scene:
    nodes: dict[int, Node] = field(default_factory=dict)
    #: (source id, attribute, destination id, attribute)
    connections: list[tuple[int, str, int, str]] = field(default_factory=list)
    #: (node id, component such as ``.e[0:3]`` or nothing)
    selection: list[tuple[int, str]] = field(default_factory=list)
    time: float = 1.0
    range: list[float] = field(default_factory=lambda: [1.0, 1.0, 120.0, 200.0])
    last_id: int = 0
    references: list[str] = field(default_factory=list)

    def __deepcopy__(self, memo: object) -> Scene:
        # Each undo step copies the scene, and pickling is many times as fast as the default way to
        # copy.
        return pickle.loads(pickle.dumps(self, pickle.HIGHEST_PROTOCOL))

    # -- nodes --------------------------------------------------------------------------------

    def add(self, type: str, name: str, parent: int | None = None, dag: bool = False) -> Node:
        self.last_id += 1
        attributes = {
            key: list(value) if isinstance(value, list) else value
            for key, value in ATTRIBUTES.get(type, {"output": None}).items()
        }
        node = Node(self.last_id, "", type, parent, dag, attributes)
        self.nodes[node.id] = node
        node.name = self.free_name(name, node)
        return node

    def free_name(self, wanted: str, node: Node) -> str:
        """Return a free name. Siblings, and nodes outside the DAG, never share a name. A number
        tells them apart."""
        wanted = re.sub(r"[^A-Za-z0-9_:]", "_", wanted)
        taken = {
            other.name
            for other in self.nodes.values()
            if other is not node and (not other.dag or not node.dag or other.parent == node.parent)
        }
        if wanted not in taken:
            return wanted
        stem = wanted.rstrip("0123456789")
        number = int(wanted[len(stem) :] or 0) + 1
        while f"{stem}{number}" in taken:
            number += 1
        return f"{stem}{number}"

    def children(self, id: int | None) -> list[Node]:
        return [n for n in self.nodes.values() if n.dag and n.parent == id]

    def below(self, id: int) -> list[Node]:
        below: list[Node] = []
        for child in self.children(id):
            below += [child, *self.below(child.id)]
        return below

    def walk(self) -> list[Node]:
        return [n for top in self.children(None) for n in (top, *self.below(top.id))]

    def path(self, node: Node) -> str:
        if not node.dag:
            return node.name
        above = self.path(self.nodes[node.parent]) if node.parent is not None else ""
        return f"{above}|{node.name}"

    def short(self, node: Node) -> str:
        """Return the shortest path that names only this node."""
        if not node.dag:
            return node.name
        parts = self.path(node).split("|")
        for count in range(1, len(parts)):
            name = "|".join(parts[-count:])
            if len(self.match(name)) == 1:
                return name
        return self.path(node)

    def match(self, name: str) -> list[Node]:
        last = name.rpartition("|")[2]
        named = [n for n in self.nodes.values() if n.name == last]
        if name.startswith("|"):
            return [n for n in named if n.dag and self.path(n) == name]
        tail = f"|{name}"
        return [n for n in named if (self.path(n).endswith(tail) if n.dag else n.name == name)]

    def one(self, name: str) -> Node:
        matching = self.match(name)
        if not matching:
            raise ValueError(f"No object matches name: {name}")
        if len(matching) > 1:
            raise ValueError(f"More than one object matches name: {name}")
        return matching[0]

    def remove(self, node: Node) -> None:
        for each in [node, *self.below(node.id)]:
            self.nodes.pop(each.id, None)
            ends = [c for c in self.connections if each.id in (c[0], c[2])]
            self.connections = [c for c in self.connections if c not in ends]
            # A node of the history is deleted with the mesh that it made.
            for source, _, target, attribute in ends:
                maker = self.nodes.get(source)
                if target == each.id and attribute == "inMesh" and maker is not None:
                    self.nodes.pop(source)
        self.selection = [s for s in self.selection if s[0] in self.nodes]

    # -- drawing ------------------------------------------------------------------------------

    def override(self, node: Node, attribute: str) -> bool:
        """Return one of ``OVERRIDES``: the node's own, or its display layer's."""
        for source, _, target, into in self.connections:
            if (target, into) == (node.id, "drawOverride"):
                return bool(self.nodes[source].attributes[OVERRIDES[attribute]])
        return bool(node.attributes.get(attribute, attribute == "overrideVisibility"))

    # -- transforms -----------------------------------------------------------------------------

    def local(self, node: Node) -> mx.Matrix:
        if node.type not in TRANSFORM_TYPES:
            return mx.identity()
        a = node.attributes
        return mx.compose(a["translate"], a["rotate"], a["rotateOrder"], a["scale"], a["shear"])

    def world(self, node: Node | None) -> mx.Matrix:
        if node is None:
            return mx.identity()
        above = self.nodes[node.parent] if node.parent is not None else None
        return mx.times(self.local(node), self.world(above))

    def set_local(self, node: Node, matrix: mx.Matrix) -> None:
        parts = mx.decompose(matrix, node.attributes["rotateOrder"])
        for name, value in zip(("translate", "rotate", "scale", "shear"), parts, strict=True):
            node.attributes[name] = value

    def shape(self, node: Node) -> Node | None:
        if node.type == "mesh":
            return node
        return next((c for c in self.children(node.id) if c.type not in TRANSFORM_TYPES), None)

    def evaluate(self, node: Node, channel: str, frame: float) -> float:
        keys = node.keys[channel]
        times = sorted(keys)
        if frame <= times[0]:
            return keys[times[0]]
        for low, high in pairwise(times):
            if frame <= high:
                part = (frame - low) / (high - low)
                return keys[low] + (keys[high] - keys[low]) * part
        return keys[times[-1]]

    def go_to(self, frame: float) -> None:
        self.time = float(frame)
        for node in self.nodes.values():
            for channel in node.keys:
                value = self.evaluate(node, channel, frame)
                node.attributes[channel[:-1]][AXES.index(channel[-1])] = value


def new_scene() -> Scene:
    scene = Scene()
    for name in ("persp", "top", "front", "side"):
        camera = scene.add("transform", name, dag=True)
        shape = scene.add("camera", f"{name}Shape", camera.id, dag=True)
        shape.attributes.update(startupCamera=True, renderable=name == "persp")
    scene.add("renderGlobals", "defaultRenderGlobals")
    scene.add("resolution", "defaultResolution")
    scene.add("colorManagementGlobals", "defaultColorMgtGlobals")
    for name in ("defaultLightSet", "defaultObjectSet"):
        scene.add("objectSet", name)
    scene.add("defaultShaderList", "defaultShaderList1")
    scene.add("defaultTextureList", "defaultTextureList1")
    scene.add("defaultRenderUtilityList", "defaultRenderUtilityList1")
    material = scene.add("standardSurface", "standardSurface1")
    group = scene.add("shadingEngine", "initialShadingGroup")
    scene.connections.append((material.id, "outColor", group.id, "surfaceShader"))
    return scene
