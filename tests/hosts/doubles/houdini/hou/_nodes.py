"""Nodes and their types, as Python sees them. An object holds only a node's number."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from pathlib import Path

from . import _types
from ._errors import InvalidInput, ObjectWasDeleted, OperationFailed, PermissionError
from ._images import png
from ._math import Matrix4
from ._parms import ParmTemplateGroup, ParmTuple, template_of
from ._scene import Channel
from ._session import guarded, guarded_function, session


@guarded
class NodeTypeCategory:
    def __init__(self, name) -> None:
        self._name = name

    def __eq__(self, other):
        return isinstance(other, NodeTypeCategory) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    def name(self):
        return self._name

    def nodeTypes(self):
        return {
            name: OpNodeType(type)
            for name, type in _types.TYPES.get(self._name, {}).items()
            if name not in session.not_installed
        }


class NodeType:
    """A type of node. ``hou.ApexNodeType`` is another kind of type."""


@guarded
class OpNodeType(NodeType):
    def __init__(self, type) -> None:
        self._type = type

    def name(self):
        return self._type.name

    def nameComponents(self):
        name, _, version = self._type.name.partition("::")
        return "", "", name, version

    def description(self):
        return self._type.label

    def maxNumInputs(self):
        return self._type.inputs

    def category(self):
        return NodeTypeCategory(self._type.category)

    def hidden(self):
        return False

    def embeddedHelp(self):
        return ""

    def parmTemplates(self):
        return tuple(template_of(parm, name) for name, parm in self._type.parms.items())


class NetworkItem:
    def __init__(self, id) -> None:
        self._id = id

    def __eq__(self, other):
        return isinstance(other, NetworkItem) and self._id == other._id

    def __hash__(self):
        return hash(self._id)

    @property
    def _data(self):
        try:
            return session.scene.nodes[self._id]
        except KeyError:
            raise ObjectWasDeleted from None


@guarded
class NetworkMovableItem(NetworkItem):
    def name(self):
        return self._data.name

    def path(self):
        return session.scene.path(self._data)

    def parent(self):
        above = self._data.parent
        return wrap(above) if above is not None else None

    def setName(self, name, unique_name=False):
        node = self._data
        _check_name(name)
        scene = session.scene
        taken = [n for n in scene.children(node.parent) if n.name == name and n.id != node.id]
        if taken and not unique_name:
            raise OperationFailed("The name is already used.")
        self._may_change()
        session.record("Rename")
        node = self._data
        node.name = ""
        node.name = session.scene.free_name(name, node.parent)

    def isSelected(self):
        return self._data.selected

    def setSelected(self, on, clear_all_selected=False, show_asset_if_selected=False):
        if clear_all_selected:
            clearAllSelected()
        self._data.selected = bool(on)
        _selected()

    def _may_change(self):
        if self._is_inside_locked():
            raise PermissionError("The node is inside a locked asset.")

    def _is_inside_locked(self):
        around = self._data.parent
        while around is not None:
            if session.scene.nodes[around].locked_asset:
                return True
            around = session.scene.nodes[around].parent
        return False


@guarded
class Node(NetworkMovableItem):
    def type(self):
        return OpNodeType(self._data.type)

    def childTypeCategory(self):
        children = self._data.type.children
        return NodeTypeCategory(children) if children else None

    def isNetwork(self):
        return self._data.type.children is not None

    def children(self):
        return tuple(wrap(node.id) for node in session.scene.children(self._data.id))

    def allSubChildren(self, top_down=True, recurse_in_locked_nodes=True):
        return tuple(wrap(node.id) for node in session.scene.below(self._data.id))

    def node(self, node_path):
        data = session.scene.find(f"{self.path()}/{node_path}")
        return wrap(data.id) if data else None

    def inputs(self):
        wires = self._data.inputs
        last = max(wires, default=-1)
        return tuple(wrap(wires[i]) if i in wires else None for i in range(last + 1))

    def inputNames(self):
        return self._data.type.input_names

    def outputs(self):
        me = self._data.id
        return tuple(
            wrap(node.id)
            for node in session.scene.nodes.values()
            for id in node.inputs.values()
            if id == me
        )

    def setInput(self, input_index, item_to_become_input, output_index=0):
        node = self._data
        if not 0 <= input_index < node.type.inputs:
            raise InvalidInput("Invalid input index.")
        other = item_to_become_input._data if item_to_become_input is not None else None
        if other is not None and other.parent != node.parent:
            raise OperationFailed("The nodes are in different networks.")
        at = other
        while at is not None:
            if at is node:
                raise OperationFailed("The wires would go in a circle.")
            wired = at.inputs.get(0)
            at = session.scene.nodes[wired] if wired is not None else None
        self._may_change()
        session.record("Connect")
        node = self._data
        if other is None:
            node.inputs.pop(input_index, None)
        else:
            node.inputs[input_index] = other.id

    def errors(self):
        if self._data.type.name == "file":
            return ("Unable to read file.",)
        return ()

    def warnings(self):
        return ()

    def destroy(self, disable_safety_checks=False):
        node = self._data
        if node.type.category == "Manager":
            raise OperationFailed("Can't delete a manager.")
        self._may_change()
        around = node.parent
        session.record("Delete")
        session.scene.remove(self._data)
        _network_event("ChildDeleted", around)

    def moveToGoodPosition(
        self, relative_to_inputs=True, move_inputs=True, move_outputs=True, move_unconnected=True
    ):
        self._data  # noqa: B018

    def layoutChildren(self, items=(), horizontal_spacing=-1.0, vertical_spacing=-1.0):
        self._data  # noqa: B018

    def userData(self, name):
        return self._data.user_data.get(name)

    def setUserData(self, name, value):
        if not isinstance(value, str):
            raise TypeError("user data are strings")
        self._may_change()
        session.record("Set User Data")
        self._data.user_data[name] = value

    def destroyUserData(self, name, must_exist=True):
        if name not in self._data.user_data:
            if must_exist:
                raise OperationFailed(f"There is no user data named {name}.")
            return
        self._may_change()
        session.record("Destroy User Data")
        del self._data.user_data[name]


@guarded
class OpNode(Node):
    def createNode(
        self,
        node_type_name,
        node_name=None,
        run_init_scripts=True,
        load_contents=True,
        exact_type_name=False,
        force_valid_node_name=False,
    ):
        node = self._data
        kind = _types.resolve(node.type.children or "", node_type_name)
        if kind is None or kind.name in session.not_installed:
            raise OperationFailed("Invalid node type name.")
        if node_name is not None and not force_valid_node_name:
            _check_name(node_name)
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", node_name or f"{kind.name.split('::')[0]}1")
        if node.locked_asset:
            raise PermissionError("The node is a locked asset.")
        self._may_change()
        session.record("Create")
        scene = session.scene
        made = scene.add(kind, stem, node.id)
        node = scene.nodes[node.id]
        if node.shown is None and kind.children is None:
            node.shown = made.id
        _network_event("ChildCreated", node.id)
        return wrap(made.id)

    def isLockedHDA(self):
        return self._data.locked_asset

    def isInsideLockedHDA(self):
        return self._is_inside_locked()

    def isEditableInsideLockedHDA(self):
        # No node is marked as editable inside an asset.
        return not self._is_inside_locked()

    def createDigitalAsset(self, name=None, hda_file_name=None, description=None):
        node = self._data
        if name is None or hda_file_name is None or node.type.name != "subnet" or node.asset:
            raise NotImplementedError(
                "the double doesn't model assets other than a subnet in a file of its own"
            )
        self._may_change()
        Path(hda_file_name).write_bytes(b"")
        node.type = replace(node.type, name=name, label=description or name)
        node.asset = hda_file_name
        return self

    def matchCurrentDefinition(self):
        self._may_change()
        self._data.locked_asset = bool(self._data.asset)

    def allowEditingOfContents(self, propagate=False):
        self._may_change()
        self._data.locked_asset = False

    def parm(self, parm_path):
        near = [name for name in self._data.parms if parm_path.startswith(name)]
        parms = (parm for name in near for parm in ParmTuple(self, name))
        return next((parm for parm in parms if parm.name() == parm_path), None)

    def parms(self):
        return tuple(parm for several in self.parmTuples() for parm in several)

    def parmTuple(self, parm_path):
        return ParmTuple(self, parm_path) if parm_path in self._data.parms else None

    def parmTuples(self):
        return tuple(ParmTuple(self, name) for name in self._data.parms)

    def parmTemplateGroup(self):
        return ParmTemplateGroup(self._data.parms)

    def setParmTemplateGroup(self, parm_template_group, rename_conflicting_parms=False):
        self._may_change()
        session.record("Change parameters")
        node = self._data
        for made in parm_template_group._added:
            name, parm = made.name(), made._parm
            node.spare[name] = parm
            several = isinstance(parm.default, list)
            node.parms[name] = [Channel(v) for v in (parm.default if several else [parm.default])]

    def cook(self, force=False, frame_range=()):
        if self._data.type.name == "file":
            raise OperationFailed("The attempted operation failed.\nUnable to read file.")

    def addEventCallback(self, event_types, callback):
        _callbacks.append((self._data.id, tuple(event_types), callback))

    def removeEventCallback(self, event_types, callback):
        for each in _callbacks:
            if each == (self._data.id, tuple(event_types), callback):
                _callbacks.remove(each)
                return
        raise OperationFailed("Callback was not registered.")


@guarded
class SopNode(OpNode):
    def geometry(self, output_index=0):
        if self.errors():
            raise OperationFailed("The attempted operation failed.\nUnable to read file.")
        return session.scene.cook(self._data)

    def setDisplayFlag(self, on):
        _may_set_flags()
        around = self._data.parent
        session.record("Display")
        session.scene.nodes[around].shown = self._id if on else None

    setRenderFlag = setDisplayFlag

    def isDisplayFlagSet(self):
        return session.scene.nodes[self._data.parent].shown == self._id


@guarded
class VopNode(OpNode):
    def isMaterialFlagSet(self):
        return self._data.type.name.startswith("principledshader")


class LopNode(OpNode):
    pass


@guarded
class RopNode(OpNode):
    def render(
        self,
        frame_range=(),
        res=(),
        output_file=None,
        output_format=None,
        to_flipbook=False,
        quality=2,
        ignore_inputs=False,
        method=None,
        ignore_bypass_flags=False,
        ignore_lock_flags=False,
        verbose=False,
        output_progress=False,
    ):
        if res or output_file is not None or len(frame_range) != 2:
            raise NotImplementedError("the double doesn't model other ways to render")
        mantra = self._data.type.name == "ifd"
        if not mantra and not session.windows:
            raise NotImplementedError(
                "the double doesn't model OpenGL without a GUI, which makes the real hython exit"
            )
        if not mantra and not session.graphics_card:
            raise OperationFailed("The attempted operation failed.\nUnable to open a GL context.")
        values = {name: session.scene.values(self._data, name) for name in self._data.parms}
        camera = session.scene.find(values["camera"][0])
        if camera is None or camera.type.name != "cam":
            raise OperationFailed("The attempted operation failed.\nCan't find the camera.")
        (picture,) = values["vm_picture" if mantra else "picture"]
        if picture == "ip" or "$" in picture or "`" in picture:
            raise NotImplementedError("the double doesn't model pictures that aren't plain files")
        for watcher in session.rendering:
            watcher()
        if mantra and not values["soho_foreground"][0]:
            return  # Mantra has been started, but hasn't finished
        size = (1280, 720)
        if mantra and values["override_camerares"][0] and values["res_fraction"][0] == "specific":
            size = values["res_override"]
        elif not mantra and values["tres"][0]:
            size = values["res"]
        if not picture.endswith(".png"):
            raise NotImplementedError("the double doesn't model pictures that aren't PNG")
        session.rendered.append((self._data.type.name, *frame_range))
        Path(picture).write_bytes(png(*size))


@guarded
class ObjNode(OpNode):
    def localTransform(self):
        return session.scene.local(self._data)

    def worldTransform(self):
        return session.scene.world(self._data)

    def worldTransformAtTime(self, time):
        return session.scene.world(self._data, time * 24 + 1)

    def parmTransform(self):
        return session.scene.parm_transform(self._data)

    def parentAndSubnetTransform(self):
        return session.scene.above(self._data)

    def preTransform(self):
        return self._data.pre

    def setPreTransform(self, matrix):
        if not isinstance(matrix, Matrix4):
            raise TypeError("a matrix is needed")
        self._may_change()
        session.record("Pretransform")
        self._data.pre = matrix

    def setWorldTransform(self, matrix, fail_on_locked_parms=False):
        above = self.parentAndSubnetTransform().inverted()
        self.setParmTransform(matrix * above * self.preTransform().inverted())

    def setParmTransform(self, matrix, fail_on_locked_parms=False):
        parts = matrix.explode()
        if self.parm("xOrd").evalAsString() != "srt" or self.parm("rOrd").evalAsString() != "xyz":
            raise NotImplementedError("the double doesn't model other orders")
        for name, part in (("t", "translate"), ("r", "rotate"), ("s", "scale")):
            self.parmTuple(name).set(parts[part])

    def isObjectDisplayed(self):
        return self._data.display

    def setDisplayFlag(self, on):
        _may_set_flags()
        session.record("Display")
        self._data.display = bool(on)

    def displayNode(self):
        shown = self._data.shown
        return wrap(shown) if shown is not None else None


_CLASSES = {"Object": ObjNode, "Sop": SopNode, "Vop": VopNode, "Lop": LopNode, "Driver": RopNode}
#: (node's number, event types, callback)
_callbacks: list = []


def wrap(id):
    return _CLASSES.get(session.scene.nodes[id].type.category, OpNode)(id)


def _check_name(name):
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name):
        raise OperationFailed("Invalid node name.")


def _may_set_flags():
    if session.scene.take != session.scene.first_take:
        raise PermissionError("The flag is not in the current take.")


def _network_event(kind, id):
    from ._enums import nodeEventType

    event = getattr(nodeEventType, kind)
    for node, types, call in list(_callbacks):
        if node == id and event in types:
            call(node=wrap(id), event_type=event, child_node=None)


def _selected():
    session.tell(session.selection_callbacks, selectedNodes())


def node(path):
    if session.scene is None or "\0" in path:
        return None
    data = session.scene.find(path)
    return wrap(data.id) if data else None


def fileReferences(project_dir_variable="HIP", include_all_refs=True):
    """Return the referenced files, except those that come with Houdini."""
    return tuple(
        (parm, parm.unexpandedString())
        for data in list(session.scene.nodes.values())
        for parm in (wrap(data.id).parms() if data.type.category != "Manager" else ())
        if parm._spec.kind == "String" and parm._spec.holds == "FileReference"
        if parm.unexpandedString() not in ("", "default.bgeo", "ip")
    )


def selectedNodes(include_hidden=False):
    return tuple(wrap(n.id) for n in session.scene.nodes.values() if n.selected)


def clearAllSelected():
    for data in session.scene.nodes.values():
        data.selected = False
    _selected()


def copyNodesTo(nodes, destination_node):
    _check_same(nodes, destination_node)
    if destination_node._data.locked_asset or destination_node._is_inside_locked():
        raise OperationFailed("The destination node cannot be copied into.")
    session.record("Copy")
    scene = session.scene
    twins: dict = {}
    clearAllSelected()
    for each in nodes:
        twins[each._id] = _copy(scene, each._data, destination_node._id)
        twins[each._id].selected = True
    for id, twin in twins.items():
        old = scene.nodes[id]
        twin.inputs = {i: twins[n].id for i, n in old.inputs.items() if n in twins}
    _network_event("ChildCreated", destination_node._id)
    return tuple(wrap(twin.id) for twin in twins.values())


def _copy(scene, original, parent):
    scene.last_id += 1
    made = copy.deepcopy(original)
    made.id, made.parent, made.selected = scene.last_id, parent, False
    made.name = scene.free_name(original.name, parent)
    inside = {}
    scene.nodes[made.id] = made
    for child in scene.children(original.id):
        inside[child.id] = _copy(scene, child, made.id).id
    for new in inside.values():
        data = scene.nodes[new]
        data.inputs = {i: inside[n] for i, n in data.inputs.items() if n in inside}
    made.shown = inside.get(original.shown)
    return made


def moveNodesTo(nodes, destination_node):
    for each in nodes:
        each._may_change()
    copies = copyNodesTo(nodes, destination_node)
    wanted = [each.name() for each in nodes]
    for each in nodes:
        session.scene.remove(each._data)
    for each, name in zip(copies, wanted, strict=True):
        each._data.name = ""
        each._data.name = session.scene.free_name(name, destination_node._id)
    return copies


def _check_same(nodes, destination):
    for each in nodes:
        if each._data.type.category != destination._data.type.children:
            raise OperationFailed("The nodes don't fit the network.")


for _function in (node, fileReferences, selectedNodes, clearAllSelected, copyNodesTo, moveNodesTo):
    globals()[_function.__name__] = guarded_function(_function)
