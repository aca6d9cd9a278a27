"""File translators: meshes and transforms as FBX, OBJ and Alembic.

An OBJ is a real OBJ. An FBX begins as such a file does, with its units and up axis if they are set.
The rest of it, and an Alembic file after its first bytes, is in the double's own format.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

from . import _matrices as mx
from . import _meshes as shapes
from ._attribute_commands import centimetres
from ._dag_commands import one
from ._registry import command
from ._scene import TRANSFORM_TYPES, Node
from ._session import session

#: The translators of each plug-in, and whether they read and write.
TRANSLATORS = {
    "": {"mayaAscii": (True, True), "mayaBinary": (True, True), "OBJ": (True, False)},
    "fbxmaya": {"FBX": (True, False), "FBX export": (False, True)},
    "objExport": {"OBJexport": (False, True)},
    "AbcImport": {"Alembic": (True, False)},
    "AbcExport": {},
}
_FBX, _ALEMBIC = b"Kaydara FBX Binary  \x00\x1a\x00", b"Ogawa\xff"
#: The plug-in's default settings, to which it is reset.
_FBX_DEFAULTS: dict[str, dict[str, str]] = {
    "Import": {
        "Mode": "merge",
        "AxisConversionEnable": "false",
        "SetMayaFrameRate": "false",
        "FillTimeline": "true",
    },
    "Export": {"IncludeChildren": "true", "InputConnections": "true", "EmbeddedTextures": "false"},
}
Part = dict[str, Any]


def known() -> dict[str, tuple[bool, bool]]:
    loaded = ("", *session.plugins)
    return {name: can for each in loaded for name, can in TRANSLATORS.get(each, {}).items()}


@command()
def translator(*names, list=False, readSupport=False, writeSupport=False, mode="create"):
    if mode != "query":
        raise NotImplementedError("the double doesn't model other uses of translator")
    if list:
        return [*known()]
    reads, writes = known()[names[0]]
    return reads if readSupport else writes


def read(path: str, type: str) -> None:
    if not known().get(type, (False, False))[0]:
        raise RuntimeError(f"Unrecognized file type: {type}")
    if not Path(path).is_file():
        raise RuntimeError(f"File not found: {path}")
    session.record("file")
    data = Path(path).read_bytes()
    if type == "OBJ":
        _bring(_of_obj(data))
    elif type == "FBX":
        _read_fbx(data)
    else:
        _bring(_of_own(data, _ALEMBIC)["parts"], 1 / centimetres())


def write(path: str, type: str, selected: bool) -> None:
    if not known().get(type, (False, False))[1]:
        raise RuntimeError(f"Unrecognized file type: {type}")
    scene = session.scene
    tops = [scene.nodes[id] for id, _ in scene.selection] if selected else scene.children(None)
    if not tops:
        raise RuntimeError("Nothing is currently selected.")
    parts = _parts(tops)
    if type == "OBJexport":
        _put(path, _obj(parts))
        return
    settings = fbx()["Export"]
    if selected and settings["InputConnections"] != "false":
        raise NotImplementedError("the double doesn't model exporting input connections")
    if settings["IncludeChildren"] != "true":
        raise NotImplementedError(
            "the double doesn't model exporting objects without their children"
        )
    axis = "xyz".index(session.up_axis)
    _put(
        path,
        _FBX
        + _property("UpAxis", "int", "Integer", b"I" + struct.pack("<i", axis))
        + _property("UnitScaleFactor", "double", "Number", b"D" + struct.pack("<d", centimetres()))
        + _own({"up": session.up_axis, "unit": centimetres(), "parts": parts}),
    )


def _put(path: str, data: bytes) -> None:
    try:
        Path(path).write_bytes(data)
    except OSError:
        raise RuntimeError(f"Unable to write to {path}") from None


# -- FBX ------------------------------------------------------------------------------------------


def fbx() -> dict[str, dict[str, str]]:
    if not session.fbx:
        session.fbx.append({kind: dict(of) for kind, of in _FBX_DEFAULTS.items()})
    return session.fbx[-1]


def fbx_command(code: str) -> bool:
    """Run the code if it is an FBX command. Return whether it was one."""
    matched = re.fullmatch(r"FBX(\w+)(?: -v (\w+))?;", code)
    if matched is None:
        return False
    if "fbxmaya" not in session.plugins:
        raise RuntimeError(f'Cannot find procedure "FBX{matched[1]}".')
    name, value = matched.groups()
    kind = name[:6]
    if name == "PushSettings":
        session.fbx.append({each: dict(of) for each, of in fbx().items()})
    elif name == "PopSettings":
        if len(session.fbx) < 2:
            raise RuntimeError("there are no settings to restore")
        session.fbx.pop()
    elif name in ("ResetImport", "ResetExport"):
        fbx()[name[5:]] = dict(_FBX_DEFAULTS[name[5:]])
    elif value is not None and name[6:] in fbx().get(kind, {}):
        fbx()[kind][name[6:]] = value
    else:
        raise NotImplementedError(f"the double doesn't support {code}")
    return True


def _read_fbx(data: bytes) -> None:
    settings = fbx()["Import"]
    if settings["Mode"] != "add":
        raise NotImplementedError("the double doesn't model an import that changes existing nodes")
    told = _of_own(data, _FBX)
    # As with the option to follow the file's units.
    moved = mx.identity()
    if settings["AxisConversionEnable"] == "true" and told["up"] != session.up_axis:
        moved = mx.turn(0, -90 if told["up"] == "z" else 90)
    _bring(told["parts"], told["unit"] / centimetres(), moved)


def _property(name: str, type: str, label: str, value: bytes) -> bytes:
    texts = (each.encode() for each in (type, label, ""))
    told = (b"S" + struct.pack("<i", len(text)) + text for text in texts)
    return b"".join([name.encode(), *told, value])


# -- Alembic --------------------------------------------------------------------------------------


@command()
def AbcExport(jobArg=None):
    words = iter(jobArg.split(" "))
    roots: list[Node] = []
    flags: set[str] = set()
    file = ""
    for word in words:
        if word == "-fr":
            float(next(words)), float(next(words))
        elif word == "-df":
            assert next(words) == "ogawa"
        elif word == "-rt":
            roots.append(one(next(words)))
        elif word == "-f":
            file = next(words)
        elif word in ("-uv", "-ws", "-wv"):
            flags.add(word)
        else:
            raise NotImplementedError(f"the double of AbcExport has no {word}")
    below = {each.id for root in roots for each in session.scene.below(root.id)}
    if any(root.id in below for root in roots):
        raise RuntimeError("roots have an ancestor relationship.")
    if "-ws" not in flags:
        raise NotImplementedError("the double doesn't model roots in their own space")
    # Maya uses centimeters internally, and so does the file.
    _put(file, _ALEMBIC + _own({"parts": _parts(roots, centimetres())}))


# -- the content of all formats ------------------------------------------------------------------


def _parts(tops: list[Node], factor: float = 1.0) -> list[Part]:
    """Return transforms, parents first, the topmost in world space."""
    scene = session.scene
    chosen = {each.id for each in tops}
    parts: list[Part] = []

    def add(node: Node, above: int | None) -> None:
        shape = scene.shape(node)
        if node.type not in TRANSFORM_TYPES:
            return
        if shape is not None and shape.attributes.get("startupCamera"):
            return
        place = scene.world(node) if above is None else scene.local(node)
        mesh = shape.mesh if shape else None
        parts.append(
            {
                "name": node.name,
                "above": above,
                "matrix": _scaled(place, factor),
                "points": [[v * factor for v in p] for p in mesh.points] if mesh else None,
                "faces": mesh.faces if mesh else None,
                "uvs": mesh.uvs if mesh else None,
            }
        )
        number = len(parts) - 1
        for child in scene.children(node.id):
            add(child, number)

    for top in tops:
        inside = {n.id for each in tops if each is not top for n in scene.below(each.id)}
        if top.id in chosen and top.id not in inside:
            add(top, None)
    return parts


def _bring(parts: list[Part], factor: float = 1.0, moved: mx.Matrix | None = None) -> None:
    scene = session.scene
    made: list[Node] = []
    for part in parts:
        above = made[part["above"]].id if part["above"] is not None else None
        node = scene.add("transform", part["name"], above, dag=True)
        matrix = _scaled(part["matrix"], factor)
        if above is None and moved is not None:
            matrix = mx.times(matrix, moved)
        scene.set_local(node, matrix)
        if part["faces"] is not None:
            shape = scene.add("mesh", f"{node.name}Shape", node.id, dag=True)
            points = [[value * factor for value in point] for point in part["points"]]
            shape.mesh = shapes.Mesh(points, part["faces"], part["uvs"])
            group = scene.one("initialShadingGroup")
            scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))
        made.append(node)
    session.tell("event", "DagObjectCreated")


def _scaled(matrix: mx.Matrix, factor: float) -> mx.Matrix:
    return [*matrix[:3], [*(value * factor for value in matrix[3][:3]), 1.0]]


def _own(told: Any) -> bytes:
    return b"\n" + json.dumps(told).encode()


def _of_own(data: bytes, start: bytes) -> Any:
    try:
        if not data.startswith(start):
            raise ValueError
        return json.loads(data[data.rindex(b"\n") :])
    except ValueError:
        raise RuntimeError("Error reading file.") from None


def _obj(parts: list[Part]) -> bytes:
    """Return an OBJ in the artist's unit, in world space."""
    lines, first, placed = ["# by Maya"], 1, 0
    worlds: list[mx.Matrix] = []
    for part in parts:
        above = part["above"]
        local = part["matrix"]
        worlds.append(local if above is None else mx.times(local, worlds[above]))
        if part["faces"] is None:
            continue
        lines.append(f"g {part['name']}")
        for point in part["points"]:
            lines.append("v " + " ".join(f"{v:f}" for v in mx.apply(point, worlds[-1])))
        at = placed
        for face, uvs in zip(part["faces"], part["uvs"] or part["faces"], strict=True):
            words = [str(corner + first) for corner in face]
            if part["uvs"]:
                lines += [f"vt {u:f} {v:f}" for u, v in uvs]
                words = [f"{word}/{at + n}" for n, word in enumerate(words, 1)]
                at += len(face)
            lines.append("f " + " ".join(words))
        first, placed = first + len(part["points"]), at
    return ("\n".join(lines) + "\n").encode()


def _of_obj(data: bytes) -> list[Part]:
    points: list[list[float]] = []
    placed: list[list[float]] = []
    named: list[tuple[str, list[list[list[int]]]]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word in ("g", "o"):
            named.append((rest[0] if rest else "polySurface1", []))
        elif word == "v":
            points.append([float(each) for each in rest[:3]])
        elif word == "vt":
            placed.append([float(each) for each in rest[:2]])
        elif word == "f":
            if not named:
                named.append(("polySurface1", []))
            corners = [each.split("/") for each in rest]
            named[-1][1].append([[int(each) - 1 for each in one[:2] if each] for one in corners])
    parts: list[Part] = []
    for name, faces in named:
        if not faces:
            continue
        used = sorted({corner[0] for face in faces for corner in face})
        mapped = all(len(corner) == 2 for face in faces for corner in face)
        own = {number: n for n, number in enumerate(used)}
        parts.append(
            {
                "name": name,
                "above": None,
                "matrix": mx.identity(),
                "points": [points[number] for number in used],
                "faces": [[own[corner[0]] for corner in face] for face in faces],
                "uvs": [[placed[c[1]] for c in face] for face in faces] if mapped else None,
            }
        )
    return parts
