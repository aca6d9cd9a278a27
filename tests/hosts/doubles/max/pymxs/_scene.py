"""The scene: nodes, their objects, modifiers, materials, transforms and keys. It is copied as a
whole for each undo step."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import pairwise
from math import asin, atan2, cos, degrees, hypot, radians, sin, sqrt
from typing import Any

import rays

from ._polygons import Polygons, outline, primitive
from ._values import single

#: Classes of objects: their superclass, and their parameters.
OBJECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "Sphere": ("GeometryClass", {"radius": 25.0, "segs": 32}),
    "GeoSphere": ("GeometryClass", {"radius": 25.0, "segs": 4}),
    "Box": ("GeometryClass", {"width": 25.0, "length": 25.0, "height": 25.0}),
    "Plane": ("GeometryClass", {"width": 25.0, "length": 25.0}),
    "Cylinder": ("GeometryClass", {"radius": 25.0, "height": 25.0, "sides": 18}),
    "Cone": (
        "GeometryClass",
        {"radius1": 25.0, "radius2": 0.0, "height": 25.0, "sides": 24},
    ),
    "Torus": ("GeometryClass", {"radius1": 25.0, "radius2": 10.0, "segs": 24, "sides": 12}),
    "Editable_Poly": ("GeometryClass", {}),
    "Editable_mesh": ("GeometryClass", {}),
    "Dummy": ("helper", {}),
    "Omnilight": ("light", {"rgb": (180.0, 180.0, 180.0), "multiplier": 1.0}),
    "Arnold_Light": (
        "light",
        {
            "on": True,
            "targeted": True,
            "shapeType": 3,
            "useColor": True,
            "color": (255.0, 255.0, 255.0),
            "useKelvin": False,
            "kelvin": 6500.0,
            "usePreset": False,
            "texmap": None,
            "useTexmap": False,
            "intensity": 1.0,
            "exposure": 8.0,
            "normalize": True,
            "lightRadius": 0.0,
            "quadX": 40.0,
            "quadY": 40.0,
            "angle": 0.0,
            "cone_angle": 65.0,
            "penumbra_angle": 5.0,
        },
    ),
    "Physical": (
        "camera",
        {
            "targeted": True,
            "target_distance": 196.85,
            "film_width_mm": 36.0,
            "focal_length_mm": 40.0,
            "specify_fov": False,
            "lens_breathing_amount": 1.0,
            "specify_focus": 0,
            "focus_distance": 196.85,
            "use_dof": False,
            "f_number": 8.0,
            "clip_on": False,
            "clip_near": 0.0,
            "clip_far": 1000.0,
        },
    ),
    "Targetcamera": (
        "camera",
        {"fov": 45.0, "clipManually": False, "nearclip": 1.0, "farclip": 1000.0},
    ),
    "Targetobject": ("GeometryClass", {}),
    "Freecamera": (
        "camera",
        {
            "fov": 45.0,
            "clipManually": False,
            "nearclip": 1.0,
            "farclip": 1000.0,
            "orthoProjection": False,
        },
    ),
}
MODIFIERS: dict[str, dict[str, Any]] = {
    "Bend": {"BendAngle": 0.0, "BendDir": 0.0, "BendAxis": 2},
    "Twist": {"angle": 0.0, "bias": 0.0},
    "Taper": {"amount": 0.5, "curve": 0.0},
    "TurboSmooth": {"iterations": 1, "renderIterations": 0, "useRenderIterations": False},
    "Shell": {"innerAmount": 0.0, "outerAmount": 1.0},
    "Smooth": {
        "autosmooth": False,
        "preventIndirect": False,
        "threshold": 30.0,
        "smoothingBits": 0,
    },
    "Turn_to_Mesh": {"useInvisibleEdges": True},
    "Turn_to_Poly": {
        "keepConvex": False,
        "limitPolySize": False,
        "maxPolySize": 4,
        "requirePlanar": False,
        "removeMidEdgeVertices": True,
    },
}
_SLOTS = (
    *("base_color", "reflectivity", "roughness", "metalness", "transparency", "trans_ior"),
    *("emission", "emit_color", "bump", "cutout"),
)
MATERIALS: dict[str, dict[str, Any]] = {
    "PhysicalMaterial": {
        "material_mode": 0,
        "base_weight": 1.0,
        "base_color": (127.5, 127.5, 127.5),
        "reflectivity": 1.0,
        "roughness": 0.0,
        "roughness_inv": False,
        "metalness": 0.0,
        "trans_ior": 1.52,
        "transparency": 0.0,
        "emission": 1.0,
        "emit_color": (0.0, 0.0, 0.0),
        "emit_luminance": 1500.0,
        "emit_kelvin": 6500.0,
        "bump_map_amt": 0.3,
        **{f"{slot}_map": None for slot in _SLOTS},
        **{f"{slot}_map_on": True for slot in _SLOTS},
    },
    "Standardmaterial": {"diffuse": (150.0, 150.0, 150.0), "diffuseMap": None},
    "Multimaterial": {"materialList": [], "materialIDList": []},
}
#: In pymxs, maps are like materials: they have a name and properties. A property that begins with _
#: belongs to a part of the map.
MAPS: dict[str, dict[str, Any]] = {
    "Checker": {},
    "BitmapTexture": {"filename": "", "_gamma": 2.2, "_U_Tiling": 1.0, "_V_Tiling": 1.0},
    "Normal_Bump": {"normal_map": None, "bump_map": None},
    "Color_Correction": {
        "map": None,
        "rewireR": 0,
        "rewireG": 1,
        "rewireB": 2,
        "rewireA": 3,
    },
    "ColorMap": {
        "solidcolor": (127.5, 127.5, 127.5),
        "mapEnabled": True,
        "map": None,
        "gamma": 2.2,
        "gain": 1.0,
    },
}
COMPONENTS = ("Position", "Rotation", "Scale")
IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


@dataclass
class Modifier:
    id: int
    type: str
    name: str
    values: dict[str, Any]
    enabled: bool = True


@dataclass
class Material:
    id: int
    type: str
    name: str
    values: dict[str, Any]


@dataclass
class NodeData:
    id: int
    name: str
    type: str
    values: dict[str, Any]
    parent: int | None = None
    #: The transform relative to the parent, for components without keys.
    local: list[list[float]] = field(default_factory=lambda: [list(row) for row in IDENTITY])
    keys: dict[str, dict[float, list[float]]] = field(default_factory=dict)
    controller: str = "prs"
    offset: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    material: int | None = None
    #: The polygons of an editable poly or mesh.
    poly: Polygons | None = None
    hidden: bool = False
    xray: bool = False
    #: The locked channels, out of nine: position, rotation and scale, each in X, Y and Z.
    locks: list[int] = field(default_factory=list)
    modifiers: list[Modifier] = field(default_factory=list)
    layer: int | None = None
    #: An XRef's object in the other file: its class and parameters.
    source: tuple[str, dict[str, Any]] | None = None
    #: Custom attributes: the name, type and value of each definition's one parameter.
    own: dict[str, tuple[str, str, Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[str, dict[str, Any]]:
        return self.source or (self.type, self.values)

    @property
    def points(self) -> list[list[float]]:
        return self.poly.points if self.poly else outline(*self.shape)

    def polygons(self) -> Polygons:
        """Return the polygons below the modifiers."""
        made = copy.deepcopy(self.poly) or primitive(*self.shape)
        if made is None:
            raise RuntimeError(f"-- Runtime error: {self.type} has no faces")
        return made


@dataclass
class Layer:
    name: str
    on: bool = True


@dataclass
class Scene:
    nodes: dict[int, NodeData] = field(default_factory=dict)
    materials: dict[int, Material] = field(default_factory=dict)
    #: The root's custom attributes, by the names of the definition and the attribute.
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    environment_map: int | None = None
    use_environment_map: bool = False
    layers: dict[int, Layer] = field(default_factory=dict)
    selection: list[int] = field(default_factory=list)
    #: Named selection sets. They aren't part of undo steps, because the manual doesn't say that
    #: they are.
    sets: dict[str, list[int]] = field(default_factory=dict)
    frame: float = 0.0
    range: tuple[float, float] = (0.0, 100.0)
    last_id: int = 0

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def children(self, id: int) -> list[NodeData]:
        return [node for node in self.nodes.values() if node.parent == id]

    # -- transforms -----------------------------------------------------------------------------

    def local(self, node: NodeData, frame: float) -> list[list[float]]:
        if not node.keys:
            return node.local
        parts = dict(zip(COMPONENTS, decompose(node.local), strict=True))
        for component, keys in node.keys.items():
            parts[component] = at(keys, frame)
        return compose(*parts.values())

    def world(self, node: NodeData, frame: float) -> list[list[float]]:
        local = self.local(node, frame)
        if node.parent is None:
            return local
        return times(local, self.world(self.nodes[node.parent], frame))

    def set_world(self, node: NodeData, world: list[list[float]], frame: float) -> None:
        local = world
        if node.parent is not None:
            local = times(world, inverse(self.world(self.nodes[node.parent], frame)))
        before = decompose(self.local(node, frame))
        node.local = [[single(value) for value in row] for row in local]
        for component, value, was in zip(COMPONENTS, decompose(local), before, strict=True):
            # A new parent changes no key if it leaves the local transform as it is.
            same = all(abs(a - b) < 1e-4 for a, b in zip(value, was, strict=True))
            if component in node.keys and not same:
                node.keys[component][frame] = value

    # -- shapes -----------------------------------------------------------------------------------

    def bounds(self, node: NodeData, frame: float) -> tuple[list[float], list[float]]:
        world = self.world(node, frame)
        points = [
            apply([a + b for a, b in zip(point, node.offset, strict=True)], world)
            for point in node.points
        ]
        axes = list(zip(*points, strict=True))
        return [min(axis) for axis in axes], [max(axis) for axis in axes]

    def faces(self, node: NodeData) -> int:
        """Return the number of triangles, with the modifiers."""
        made = node.polygons()
        count, corners = made.triangles, sum(map(len, made.faces))
        for modifier in reversed(node.modifiers):
            if modifier.enabled and modifier.type == "TurboSmooth":
                corners *= 4 ** (int(modifier.values["iterations"]) - 1)
                count, corners = 2 * corners, 4 * corners
            elif modifier.enabled and modifier.type == "Shell":
                count, corners = 2 * count, 2 * corners
        return count


def at(keys: dict[float, list[float]], frame: float) -> list[float]:
    frames = sorted(keys)
    if frame <= frames[0]:
        return keys[frames[0]]
    for low, high in pairwise(frames):
        if frame <= high:
            part = (frame - low) / (high - low)
            return [a + (b - a) * part for a, b in zip(keys[low], keys[high], strict=True)]
    return keys[frames[-1]]


# -- matrices -------------------------------------------------------------------------------------


def times(a, b):
    product = [[sum(row[k] * b[k][j] for k in range(3)) for j in range(3)] for row in a]
    product[3] = [value + b[3][j] for j, value in enumerate(product[3])]
    return product


def apply(point, m):
    return [sum(point[k] * m[k][j] for k in range(3)) + m[3][j] for j in range(3)]


def inverse(m):
    a, b, c = m[:3]
    det = rays.dot(a, rays.cross(b, c))
    if det == 0:
        raise RuntimeError("-- Runtime error: matrix can't be inverted")
    columns = [rays.cross(b, c), rays.cross(c, a), rays.cross(a, b)]
    rows = [[columns[j][i] / det for j in range(3)] for i in range(3)]
    return [*rows, [-sum(m[3][k] * rows[k][j] for k in range(3)) for j in range(3)]]


def compose(translate, rotate, scale):
    matrix = [list(row) for row in IDENTITY]
    for i in range(3):
        matrix[i][i] = scale[i]
    for axis, angle in enumerate(rotate):
        matrix = times(matrix, _turn(axis, angle))
    matrix[3] = list(translate)
    return matrix


def decompose(m):
    scale = [sqrt(rays.dot(row, row)) for row in m[:3]]
    if rays.dot(m[0], rays.cross(m[1], m[2])) < 0:
        scale[0] = -scale[0]
    a, b, c = ([v / s for v in row] if s else row for row, s in zip(m[:3], scale, strict=True))
    y = asin(max(-1.0, min(1.0, -a[2])))
    if hypot(a[0], a[1]) > 1e-6:
        x, z = atan2(b[2], c[2]), atan2(a[1], a[0])
    else:
        x, z = atan2(-c[1], b[1]), 0.0
    return list(m[3]), [degrees(v) for v in (x, y, z)], scale


def _turn(axis, angle):
    s, c = sin(radians(angle)), cos(radians(angle))
    matrix = [list(row) for row in IDENTITY]
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    matrix[i][i], matrix[i][j], matrix[j][i], matrix[j][j] = c, s, -s, c
    return matrix
