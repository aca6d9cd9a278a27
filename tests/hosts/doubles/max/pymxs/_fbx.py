"""The FBX plug-in: nodes with their surfaces' points. A file begins as an FBX does, with its units
and up axis if they are set. The rest is in the double's own format."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from . import _objects as objects
from . import _scene as sc
from ._polygons import Polygons
from ._session import session
from ._values import Class, Name, single

_START = b"Kaydara FBX Binary  \x00\x1a\x00"
_METERS = {"in": 0.0254, "ft": 0.3048, "mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0}
_SYSTEM = {"inches": "in", "feet": "ft", "millimeters": "mm", "centimeters": "cm", "meters": "m"}

FBXIMP, FBXEXP = Class("FBXIMP"), Class("FBXEXP")


def new_settings():
    """Return the settings as the artist left them."""
    return {
        "Importer": {
            "Mode": "merge",
            "AxisConversion": False,
            "ConvertUnit": "m",
            "FillTimeline": True,
        },
        "Exporter": {
            "UpAxis": "Z",
            "AxisConversionMethod": "None",
            "ConvertUnit": "m",
            "EmbedTextures": False,
            "ShowWarnings": True,
        },
    }


class pluginManager:
    """Loads plug-ins that 3ds Max would load on first use."""

    @staticmethod
    def loadClass(plug_in):
        session.loaded.add(plug_in)
        return True


def _loaded(kind):
    if (FBXIMP if kind == "Importer" else FBXEXP) not in session.loaded:
        raise RuntimeError(f"-- Runtime error: the FBX {kind.lower()} isn't loaded")


def getter(kind):
    def get(name):
        _loaded(kind)
        return session.fbx[kind][name]

    return get


def setter(kind):
    def put(name, value):
        _loaded(kind)
        known = session.fbx[kind]
        if name not in known:
            raise NotImplementedError(f"the double doesn't model the setting {name}")
        if name == "Mode" and isinstance(value, Name):
            value = value.text
        if type(value) is not type(known[name]):
            raise RuntimeError(f"-- Unable to convert: {value} to type of {name}")
        if name not in session.stubborn:
            known[name] = value

    return put


def import_file(path, *flags, using=None):
    _no_prompt(flags)
    if using is not FBXIMP:
        raise NotImplementedError("the double doesn't model other importers")
    settings = session.fbx["Importer"]
    if settings["Mode"] != "create":
        raise NotImplementedError("the double doesn't model an import that changes existing nodes")
    try:
        data = Path(path).read_bytes()
        told = json.loads(data[data.rindex(b"\n") :]) if data.startswith(_START) else None
    except (OSError, ValueError):
        told = None
    if told is None:
        return False
    if settings["ConvertUnit"] != _SYSTEM[session.units[0]] or session.units[1] != 1.0:
        raise NotImplementedError("the double doesn't model a unit other than the scene's")
    session.record()
    factor = told["meters"] / _METERS[settings["ConvertUnit"]]
    turned = told["up"] == "Y" and settings["AxisConversion"]
    made = []
    for part in told["nodes"]:
        node = sc.NodeData(session.scene.next_id(), part["name"], "Dummy", {})
        if part["points"]:
            points = [[value * factor for value in point] for point in part["points"]]
            node.type = "Editable_Poly"
            node.poly = Polygons(points, part["faces"], *part["mapped"], part["groups"])
        matrix = [*part["matrix"][:3], [value * factor for value in part["matrix"][3]]]
        if part["above"] is not None:
            node.parent = made[part["above"]].id
        elif turned:
            matrix = sc.times(matrix, sc._turn(0, 90))
        node.local = [[single(value) for value in row] for row in matrix]
        session.scene.nodes[node.id] = node
        made.append(node)
    session.tell("nodeCreated")
    return True


def export_file(path, *flags, selectedOnly=False, using=None):
    _no_prompt(flags)
    if using is not FBXEXP:
        raise NotImplementedError("the double doesn't model other exporters")
    settings, scene = session.fbx["Exporter"], session.scene
    if settings["ShowWarnings"]:
        raise RuntimeError("this would open a modal prompt: the export's warnings")
    nodes = [n for n in scene.nodes.values() if not selectedOnly or n.id in scene.selection]
    if not nodes:
        return False
    meters = _METERS[_SYSTEM[session.units[0]]] * session.units[1]
    factor = meters / _METERS[settings["ConvertUnit"]]
    if settings["AxisConversionMethod"] != "Animation" and settings["UpAxis"] == "Y":
        raise NotImplementedError(
            "the double doesn't model a file that claims Y up without being converted"
        )
    numbers = {node.id: number for number, node in enumerate(_parents_first(nodes))}
    told = [_part(scene.nodes[id], numbers, factor, settings["UpAxis"]) for id in numbers]
    axis = "XYZ".index(settings["UpAxis"])
    unit = _METERS[settings["ConvertUnit"]]
    own = {"up": settings["UpAxis"], "meters": unit, "nodes": told}
    data = [
        _START,
        _property("UpAxis", "int", "Integer", b"I" + struct.pack("<i", axis)),
        _property("UnitScaleFactor", "double", "Number", b"D" + struct.pack("<d", unit * 100)),
        b"\n" + json.dumps(own).encode(),
    ]
    try:
        Path(path).write_bytes(b"".join(data))
    except OSError:
        return False
    return True


def _parents_first(nodes):
    chosen = {node.id for node in nodes}

    def walk(node):
        yield node
        for child in session.scene.children(node.id):
            if child.id in chosen:
                yield from walk(child)

    for node in nodes:
        if node.parent not in chosen:
            yield from walk(node)


def _part(node, numbers, factor, up):
    top = node.parent not in numbers
    matrix = (session.scene.world if top else session.scene.local)(node, objects.now())
    if top and up == "Y":
        matrix = sc.times(matrix, sc._turn(0, -90))
    drawn = sc.OBJECTS[node.shape[0]][0] == "GeometryClass"
    shape = node.polygons() if drawn else Polygons()
    placed = [[a + b for a, b in zip(point, node.offset, strict=True)] for point in shape.points]
    return {
        "name": node.name,
        "above": None if top else numbers[node.parent],
        "matrix": [*matrix[:3], [value * factor for value in matrix[3]]],
        "points": [[value * factor for value in point] for point in placed],
        "faces": shape.faces,
        "mapped": [shape.map_points, shape.map_faces],
        "groups": shape.groups,
    }


def _property(name, type, label, value):
    texts = (each.encode() for each in (type, label, ""))
    told = (b"S" + struct.pack("<i", len(text)) + text for text in texts)
    return b"".join([name.encode(), *told, value])


def _no_prompt(flags):
    if [str(flag).lower() for flag in flags] != ["#noprompt"]:
        raise RuntimeError("this would open a modal prompt: the options of the format")
