"""``pymxs.runtime``: only the functions, classes and structures that are modelled."""

from __future__ import annotations

import copy
import pickle
import re
from functools import wraps
from pathlib import Path

from . import _custom as custom
from . import _fbx as fbx
from . import _materials as materials
from . import _meshes as meshes
from . import _objects as objects
from . import _scene as sc
from . import _sets as sets
from . import _values as values
from . import _views as views
from . import _xrefs as xrefs
from ._session import EVENTS, session

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class _Struct:
    """A structure's functions, each of which checks the session's rules before it runs."""

    def __init_subclass__(cls) -> None:
        members = {
            name: member for of in reversed(cls.__mro__) for name, member in vars(of).items()
        }
        for name, member in members.items():
            if not name.startswith("_") and callable(member):
                setattr(cls, name, _guarded(member, f"rt.{cls.__name__.strip('_')}.{name}"))

    def __setattr__(self, name, value):
        raise AttributeError(f"-- Unknown property: {name!r}")


def _guarded(function, what):
    @wraps(function)
    def run(*arguments, **named):
        session.guard(what)
        return function(*arguments, **named)

    return run


# -- objects ------------------------------------------------------------------


def _maker(type):
    def make(name="", **given):
        _, defaults = sc.OBJECTS[type]
        for key in given:
            if key not in defaults:
                raise RuntimeError(f"-- Runtime error: {type} has no parameter {key}")
        session.record()
        id = session.scene.next_id()
        given = {key: materials.converted(defaults[key], of, key) for key, of in given.items()}
        node = sc.NodeData(id, name or uniqueName(type), type, {**defaults, **given})
        session.scene.nodes[id] = node
        session.tell("nodeCreated")
        return objects.Node(id)

    return make


def _modifier(type):
    def make(**given):
        if given:
            raise NotImplementedError("the double doesn't model parameters of a new modifier")
        return objects.NewModifier(type)

    return make


def _material(type):
    def make(**given):
        return materials.make(type, given)

    make.__name__ = type
    return make


def getClassInstances(kind):
    known = [each for each in session.scene.materials.values() if each.type == kind.__name__]
    return [objects.Material(each.id) for each in known]


def prs():
    return objects.NewController("prs")


def Link_Constraint():
    return objects.NewController("Link_Constraint")


def getNodeByName(name, exact=True, ignoreCase=True, all=False):
    if not exact or "\0" in name:
        raise NotImplementedError("the double doesn't model patterns")
    named = [
        objects.Node(node.id)
        for node in session.scene.nodes.values()
        if node.name == name or (ignoreCase and node.name.lower() == name.lower())
    ]
    if all:
        return named
    return named[0] if named else None


def uniqueName(prefix):
    taken = {node.name for node in session.scene.nodes.values()}
    stem = prefix.rstrip("0123456789")
    number = 1
    while f"{stem}{number:03}" in taken:
        number += 1
    return f"{stem}{number:03}"


def delete(what):
    nodes = what if isinstance(what, list) else [what]
    if not all(isinstance(node, objects.Node) for node in nodes):
        raise RuntimeError("-- Unable to convert to type: Node")
    for node in nodes:
        node._data  # noqa: B018
    session.record()
    scene = session.scene
    for node in nodes:
        for child in scene.children(node._id):
            # Children stay where they are.
            world = scene.world(child, objects.now())
            child.parent = None
            scene.set_world(child, world, objects.now())
        del scene.nodes[node._id]
    scene.selection = [id for id in scene.selection if id in scene.nodes]
    session.tell("nodePostDelete")


def select(what):
    nodes = what if isinstance(what, list) else [what]
    session.record()
    session.scene.selection = [node._data.id for node in nodes]
    session.tell("selectionSetChanged")


def clearSelection():
    session.record()
    session.scene.selection = []
    session.tell("selectionSetChanged")


def copy_(source, target=None):
    if isinstance(source, views.Bitmap):
        return views.scaled(source, target)
    if isinstance(source, materials.Material):
        return materials.copied(source)
    data = source._data
    session.record()
    twin = copy.deepcopy(data)
    twin.id = session.scene.next_id()
    twin.name = uniqueName(data.name)
    for modifier in twin.modifiers:
        modifier.id = session.scene.next_id()
    session.scene.nodes[twin.id] = twin
    session.tell("nodeCreated")
    return objects.Node(twin.id)


def getTransformLockFlags(node):
    return values.BitArray(node._data.locks)


def setTransformLockFlags(node, flags):
    if str(flags) not in ("#all", "#none"):
        raise NotImplementedError("the double doesn't model locks on single axes")
    # The manual doesn't say whether locks apply to scripts. Here they don't, so code that relies on
    # them fails.
    node._data.locks = list(range(1, 10)) if str(flags) == "#all" else []


def classOf(what):
    if isinstance(what, (objects.Node, objects._Base)):
        node = session.scene.nodes[what._id]
        if isinstance(what, objects.Node) and node.modifiers:
            return values.Class("PolyMeshObject")
        return values.Class(node.type)
    if isinstance(what, (objects.Modifier, objects.Material)):
        return values.Class(what._data.type)
    if isinstance(what, objects.Controller):
        kinds = {"Position": "Position_XYZ", "Rotation": "Euler_XYZ", "Scale": "Bezier_Scale"}
        return values.Class(kinds.get(what._component or "", what._data.controller))
    if isinstance(what, values.Class):
        return what  # Only the renderer's class is modelled.
    raise NotImplementedError(f"the double doesn't model the class of {what!r}")


def superClassOf(what):
    return values.Class(sc.OBJECTS[what._data.shape[0]][0])


def isProperty(what, name):
    text = name.text if isinstance(name, values.Name) else name
    if isinstance(what, materials.Material) and text.lower() in ("bitmap", "coords", "name"):
        raise NotImplementedError(f"the double doesn't model isProperty of {text}")
    return any(key.lower() == text.lower() for key in what._data.values)


def getPropNames(what):
    return [values.Name(key) for key in what._data.values]


def getProperty(what, name):
    return getattr(what, values_key(what, name))


def setProperty(what, name, value):
    setattr(what, values_key(what, name), value)


def values_key(what, name):
    if not isinstance(what, objects.Node) or not isinstance(name, values.Name):
        raise NotImplementedError("the double doesn't model properties of anything but nodes")
    return materials.key_of(what._data.values, name.text)


def getHandleByAnim(what):
    return what._data.id


def getPropertyController(controller, name):
    if isinstance(controller, (objects.Node, objects.Material, objects.Modifier)):
        if not isProperty(controller, name):
            raise RuntimeError(f"-- Unknown property: {name}")
        return session.controllers.get((controller._id, name.text.lower()))
    if name not in sc.COMPONENTS:
        raise RuntimeError(f"-- Unknown property: {name}")
    if controller._data.controller != "prs":
        return None
    return objects.Controller(controller._node, name)


def getSubAnim(controller, index):
    if controller._component is None:
        return objects.SubAnim(objects.Controller(controller._node, sc.COMPONENTS[index - 1]))
    return objects.SubAnim(objects.SubController(controller, index))


def numKeys(controller):
    return len(controller._frames) if isinstance(controller, objects.SubController) else -1


def getKeyTime(controller, index):
    return objects.key_time(controller, index)


def deleteKey(controller, index):
    frame = objects.key_time(controller, index).frame
    session.record()
    keys = controller._above._keys()
    keys.pop(frame)
    if not keys:
        del controller._above._data.keys[controller._above._component]


class _Polyop(_Struct, meshes.Polyop):
    pass


class _Meshop(_Struct, meshes.Meshop):
    pass


class _MapPaths(_Struct):
    def getFullFilePath(self, path):
        return path if Path(path).exists() else ""


def getTriMeshFaceCount(node):
    return [session.scene.faces(node._data), 8]


def addModifier(node, modifier, before=0):
    if sc.OBJECTS[node._data.shape[0]][0] != "GeometryClass":
        raise RuntimeError("-- Runtime error: modifier does not apply to this object")
    session.record()
    id = session.scene.next_id()
    made = sc.Modifier(id, modifier._type, modifier._type, dict(modifier._values))
    node._data.modifiers.insert(before, made)


def deleteModifier(node, modifier):
    data = modifier._data
    session.record()
    stack = node._data.modifiers
    stack.remove(next(each for each in stack if each.id == data.id))


def convertToPoly(node):
    meshes.to_poly(node)
    return node


# -- the application ------------------------------------------------------------------


def maxVersion():
    return [27000, 62, 0, 27, 0, 0, 0, 2025, ""]


def IsNetServer():
    return session.render_node


def getSaveRequired():
    return session.modified


def setSaveRequired(required):
    session.modified = bool(required)


def loadMaxFile(path, useFileUnits=True, quiet=False):
    if not quiet:
        raise RuntimeError("this would open a modal prompt: units, missing plug-ins or changes")
    if session.hold is not None and not session.undo_off:
        raise RuntimeError("a scene was opened inside an undo block")
    session.tell("filePreOpen")
    scene = _scene_in(path)
    if scene is None:
        session.tell("fileOpenFailed")
        return False
    session.scene, session.file, session.modified = scene, path, False
    session.forget_undo()
    session.tell("filePostOpen")
    return True


def _scene_in(path):
    data = Path(path).read_bytes()
    try:
        return pickle.loads(data[len(_MAGIC) :])
    except (pickle.UnpicklingError, EOFError, ValueError, KeyError):
        return None


def saveMaxFile(path, clearNeedSaveFlag=True, useNewFile=True, quiet=False):
    if not quiet or not clearNeedSaveFlag or not useNewFile:
        raise NotImplementedError("the double doesn't model other ways to save")
    session.tell("filePreSave")
    try:
        Path(path).write_bytes(_MAGIC + pickle.dumps(session.scene))
    except OSError:
        return False
    session.file, session.modified = path, False
    session.tell("filePostSave")
    return True


def resetMaxFile(name):
    if not isinstance(name, values.Name) or name.text.lower() != "noprompt":
        raise RuntimeError("this would open a modal prompt: the scene will be reset")
    session.tell("systemPreReset")
    session.scene, session.file, session.modified = session.new_scene(), "", False
    session.forget_undo()
    session.tell("systemPostReset")
    return True


def run_undo():
    session.guard("pymxs.run_undo")
    session.undo_newest()


def run_redo():
    session.guard("pymxs.run_redo")
    session.redo_next()


def execute(code):
    if code == "max undo":
        session.undo_newest()
        return True
    sums = re.fullmatch(r"\s*(\d+)\s*\+\s*(\d+)\s*", code)
    if sums is not None:
        return int(sums[1]) + int(sums[2])
    defined = re.fullmatch(
        r"attributes (\w+) attribID:#\(0x[0-9a-f]{8}, 0x[0-9a-f]{8}\) "
        r"\(parameters main \(([^()]*)\)\)",
        code,
    )
    if defined is not None:
        types = dict(re.findall(r"(\w+) type:#(\w+)", defined[2]))
        if not types or not set(types.values()) <= {"materialTab", "node"}:
            raise NotImplementedError(f"the double doesn't model attributes of {types}")
        return materials.Definition(defined[1], types)
    own = re.fullmatch(
        r"attributes (\w+) \(parameters main \((\w+) type:#(\w+)( tabSizeVariable:true)?\)\)",
        code,
    )
    if own is not None:
        if own[3] not in custom.BEGIN or own[3].endswith("Tab") is not bool(own[4]):
            raise RuntimeError(f"-- Syntax error: unknown type #{own[3]}")
        return custom.Definition(own[1], own[2], own[3])
    box = re.fullmatch(r"\s*box name:\"(\w+)\"\s*", code)
    if box is None:
        raise RuntimeError("-- Syntax error: at bad, expected <factor>")
    return _maker("Box")(name=box[1])


def displayTempPrompt(text, milliseconds):
    session.prompts.append(text)


def getMAXIniFile():
    return "3dsmax.ini"


def getINISetting(file, section, key):
    return session.ini.get((section, key), "")


def setINISetting(file, section, key, value):
    session.ini[(section, key)] = value
    return True


class _Windows:
    def getMAXHWND(self):
        session.guard("windows.getMAXHWND")
        session.needs_windows("windows.getMAXHWND")
        return 4711


class _Callbacks(_Struct):
    def addScript(self, event, act, id=None):
        if event.text not in EVENTS:
            raise RuntimeError(f"-- Runtime error: unknown callback type: #{event.text}")
        session.callbacks.append((event.text, act, id.text))

    def removeScripts(self, id=None):
        session.callbacks = [each for each in session.callbacks if each[2] != id.text]


class _ObjXRefMgr(_Struct):
    def AddXRefItemsFromFile(self, path):
        scene = _scene_in(path) if Path(path).is_file() else None
        return None if scene is None else xrefs.add(scene, path)


class _LayerManager(_Struct):
    def newLayerFromName(self, name):
        return xrefs.new_layer(name)


class _MaxOps(_Struct):
    def isInNonInteractiveMode(self):
        return not session.windows

    def CollapseNode(self, node, noWarning):
        if not noWarning:
            raise RuntimeError("this would open a modal prompt: collapsing can't be undone")
        meshes.to_poly(node)

    def CollapseNodeTo(self, node, modifier, noWarning):
        if not noWarning:
            raise RuntimeError("this would open a modal prompt: collapsing can't be undone")
        if not 1 <= modifier <= len(node._data.modifiers):
            raise RuntimeError(f"-- Runtime error: no modifier {modifier}")
        meshes.collapse(node, modifier - 1)


class _Hold(_Struct):
    def Holding(self):
        return session.hold is not None

    def GetGlobalPutCount(self):
        return session.puts


class _Refs(_Struct):
    def dependentNodes(self, what):
        """Return the nodes with this object. There is at most one, because instances aren't
        modelled."""
        if isinstance(what, objects._Base):
            return [objects.Node(what._id)]
        return [
            objects.Node(node.id)
            for node in session.scene.nodes.values()
            if materials.is_within(what._id, node.material)
        ]


class _CustAttributes(_Struct):
    def add(self, target, definition, baseobject=True):
        if isinstance(target, objects.Node):
            _not_of_the_shape(baseobject)
            return custom.add(target, definition)
        if not isinstance(target, materials.Root):
            raise NotImplementedError(
                "the double doesn't model attributes of anything but the root"
            )
        session.record()
        kept = {name: [] if of == "materialTab" else None for name, of in definition._types.items()}
        session.scene.kept.setdefault(definition._name, kept)
        return True

    def getDefs(self, target, baseobject=True):
        """Return the definitions, or ``undefined`` if there are none."""
        if isinstance(target, objects.Node):
            _not_of_the_shape(baseobject)
            return custom.definitions(target) or None
        names = session.scene.kept if isinstance(target, materials.Root) else ()
        return [materials.Definition(name, {}) for name in names] or None

    def get(self, target, definition, baseobject=True):
        if isinstance(target, objects.Node):
            _not_of_the_shape(baseobject)
            return custom.Held(target._id, definition._name)
        return materials.Attributes(definition._name)


def _not_of_the_shape(baseobject):
    if baseobject:
        raise NotImplementedError("the double doesn't model attributes of a node's base object")


class _PathConfig(_Struct):
    def getCurrentProjectFolder(self):
        return session.project


class _Units(_Struct):
    @property
    def SystemType(self):
        return values.Name(session.units[0])

    @property
    def SystemScale(self):
        return session.units[1]


# -- information about itself ---------------------------------------------------


class StringStream:
    def __init__(self, text) -> None:
        self._text = text

    def __str__(self):
        return self._text


def _classes():
    """Return superclass and properties by class."""
    known = {name: (above, made) for name, (above, made) in sc.OBJECTS.items()}
    known |= {name: ("modifier", made) for name, made in sc.MODIFIERS.items()}
    known |= {name: ("material", made) for name, made in sc.MATERIALS.items()}
    return known | {name: ("textureMap", made) for name, made in sc.MAPS.items()}


def showClass(pattern, to=None):
    if not isinstance(to, StringStream):
        raise NotImplementedError("the double doesn't model printing into the Listener")
    name, _, properties = pattern.partition(".")
    for known, (above, made) in _classes().items():
        if name not in ("*", known):
            continue
        to._text += f"{known} : {above} {{16,0}}\n"
        if properties == "*":
            to._text += "".join(f"  .{key} : {type(of).__name__}\n" for key, of in made.items())


def apropos(pattern, to=None):
    if pattern or not isinstance(to, StringStream):
        raise NotImplementedError(
            "the double doesn't model patterns, or printing into the Listener"
        )
    to._text += "".join(f"{name} (const Primitive): {name}()\n" for name in ("select", "delete"))
    to._text += "lights (const ObjectSet): $lights\nlightLevel (system Float): 1.0\n"


# -- pictures ------------------------------------------------------------------


def bitmap(width, height, filename=""):
    return views.Bitmap(width, height, filename)


def completeRedraw():
    session.needs_windows("completeRedraw")
    session.stale = False


def redrawViews():
    session.needs_windows("redrawViews")
    session.stale = False


def render(
    camera=None,
    frame=None,
    outputwidth=640,
    outputheight=480,
    outputfile="",
    vfb=True,
    quiet=False,
):
    if vfb:
        session.needs_windows("the frame buffer")
        raise RuntimeError("render would open a window")
    if not quiet:
        raise RuntimeError("this would open a modal prompt: maps may be missing")
    if camera is None or str(superClassOf(camera)) != "camera":
        raise RuntimeError("-- Runtime error: render() needs a camera")
    session.tell("preRender")
    try:
        made = views.Bitmap(outputwidth, outputheight, outputfile)
        made._rgb = b"\x60" * len(made._rgb)
        if not session.cancel_renders:
            session.rendered.append((frame, camera._id))
            views.save(made)
        return made
    finally:
        session.tell("postRender")


class _Renderers(_Struct):
    @property
    def current(self):
        session.guard("rt.renderers.current")
        return values.Class(session.renderer)


class _Gw(_Struct, views.Gw):
    pass


class _Viewport(_Struct, views.Viewport):
    def __setattr__(self, name, value):
        if name != "activeViewport":
            raise AttributeError(f"-- Unknown property: {name!r}")
        object.__setattr__(self, name, value)


class _Nitrous(_Struct, views.Nitrous):
    pass


def _plays(immediateReturn):
    if not immediateReturn:
        raise RuntimeError("this would hold the main thread until the animation ends")


# -- the module ------------------------------------------------------------------

_NAMES = {
    **{type: _maker(type) for type in sc.OBJECTS},
    **{type: _modifier(type) for type in sc.MODIFIERS},
    **{type: _material(type) for type in (*sc.MATERIALS, *sc.MAPS)},
    **{
        each.__name__: each
        for each in (
            *(prs, Link_Constraint, getNodeByName, uniqueName, delete, select, clearSelection),
            *(getTransformLockFlags, setTransformLockFlags),
            *(classOf, superClassOf, isProperty, getPropNames, getPropertyController),
            *(
                materials.append,
                getHandleByAnim,
                getProperty,
                setProperty,
                convertToPoly,
                getSubAnim,
                numKeys,
                getKeyTime,
                deleteKey,
                addModifier,
                deleteModifier,
                getTriMeshFaceCount,
                getClassInstances,
                meshes.snapshotAsMesh,
                meshes.free,
                meshes.getNumVerts,
                meshes.getVert,
                meshes.getNumFaces,
                meshes.getFace,
                meshes.getFaceSmoothGroup,
                meshes.update,
            ),
            *(maxVersion, IsNetServer, getSaveRequired, setSaveRequired),
            *(loadMaxFile, saveMaxFile, resetMaxFile),
            *(StringStream, showClass, apropos),
            *(execute, displayTempPrompt, getMAXIniFile, getINISetting, setINISetting),
            *(bitmap, completeRedraw, redrawViews, render),
            *(views.pasteBitmap, views.save, views.close, views.getViewSize),
            *(views.mapScreenToWorldRay, views.intersectRay),
        )
    },
    "copy": copy_,
    "deleteItem": sets.delete_item,
    "Physical_Camera": _maker("Physical"),
    "getRendApertureWidth": lambda: 36.0,
    "playAnimation": lambda immediateReturn=False: _plays(immediateReturn),
    "stopAnimation": lambda: None,
}
_VALUES = {
    name: getattr(values, name)
    for name in ("Point2", "Point3", "Ray", "Matrix3", "Color", "Name", "Interval", "Array")
}
_STRUCTS = {
    "windows": _Windows(),
    "callbacks": _Callbacks(),
    "objXRefMgr": _ObjXRefMgr(),
    "LayerManager": _LayerManager(),
    "maxOps": _MaxOps(),
    "theHold": _Hold(),
    "refs": _Refs(),
    "custAttributes": _CustAttributes(),
    "polyop": _Polyop(),
    "meshop": _Meshop(),
    "mapPaths": _MapPaths(),
    "rootNode": materials.Root(),
    "pathConfig": _PathConfig(),
    "units": _Units(),
    "gw": _Gw(),
    "renderers": _Renderers(),
    "viewport": _Viewport(),
    "NitrousGraphicsManager": _Nitrous(),
    "hideByCategory": views.Hidden(),
}
_GLOBALS = {
    "selectionSets": sets.SelectionSets,
    "objects": lambda: [objects.Node(id) for id in session.scene.nodes],
    "selection": lambda: [objects.Node(id) for id in session.scene.selection],
    "sliderTime": lambda: values.Time(session.scene.frame),
    "currentTime": lambda: values.Time(objects.now()),
    "animationRange": lambda: values.Interval(*session.scene.range),
    "renderWidth": lambda: 640,
    "renderHeight": lambda: 480,
    "renderPixelAspect": lambda: 1.0,
    "useEnvironmentMap": lambda: session.scene.use_environment_map,
    "environmentMap": lambda: (
        None
        if session.scene.environment_map is None
        else objects.Material(session.scene.environment_map)
    ),
    "frameRate": lambda: 30,
    "displaySafeFrames": lambda: session.safe_frames,
    "maxFileName": lambda: Path(session.file).name if session.file else "",
    "maxFilePath": lambda: f"{Path(session.file).parent}/" if session.file else "",
}


_FBX = {
    "FBXIMP": fbx.FBXIMP,
    "FbxImporter": fbx.FBXIMP,
    "FBXEXP": fbx.FBXEXP,
    "FbxExporter": fbx.FBXEXP,
    "pluginManager": fbx.pluginManager,
    **{
        f"FBX{kind}{name}": _guarded(make(kind), f"rt.FBX{kind}{name}")
        for kind in ("Importer", "Exporter")
        for name, make in (("GetParam", fbx.getter), ("SetParam", fbx.setter))
    },
    "importFile": _guarded(fbx.import_file, "rt.importFile"),
    "exportFile": _guarded(fbx.export_file, "rt.exportFile"),
}


class Runtime:
    def __getattr__(self, name):
        session.guard(f"rt.{name}")
        if name in _GLOBALS:
            return _GLOBALS[name]()
        if name in _STRUCTS:
            return _STRUCTS[name]
        if name in _VALUES:
            return _VALUES[name]
        if name == "Arnold_Light" and not session.arnold:
            raise AttributeError(f"module 'pymxs.runtime' has no attribute {name!r}")
        if name in _NAMES:
            return _guarded(_NAMES[name], f"rt.{name}")
        if session.fbx and "fbx" not in session.not_installed and name in _FBX:
            return _FBX[name]
        if session.usd and name in ("USDImporter", "USDExporter"):
            from . import _usd

            return getattr(_usd, name)
        raise AttributeError(f"module 'pymxs.runtime' has no attribute {name!r}")

    def __setattr__(self, name, value):
        session.guard(f"rt.{name}")
        if name == "useEnvironmentMap":
            session.record()
            session.scene.use_environment_map = bool(value)
        elif name == "environmentMap":
            session.record()
            session.scene.environment_map = value._id
        elif name == "displaySafeFrames":
            session.safe_frames = bool(value)
        elif name == "sliderTime":
            session.scene.frame = float(getattr(value, "frame", value))
        elif name == "animationRange":
            session.scene.range = (value.start.frame, value.end.frame)
        else:
            raise AttributeError(f"-- Unknown system global: {name!r}")


runtime = Runtime()
