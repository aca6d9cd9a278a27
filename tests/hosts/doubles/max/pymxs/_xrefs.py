"""XRef objects and layers.

As 3ds Max documents them, the parts of an XRef belong to the other file, and can't be written here.
The node is the scene's own: its name, its parent, an offset that its XRef controller adds, and its
material, which can be replaced. No animation can be added to an XRef controller. Modifiers, keys
and objects without a surface aren't modelled.
"""

from __future__ import annotations

from . import _scene as sc
from ._objects import Node
from ._session import session
from ._values import Strict


def add(file: sc.Scene, path: str) -> bool:
    scene = session.scene
    here = {node.name for node in scene.nodes.values()}
    for node in file.nodes.values():
        odd = node.keys or node.modifiers or node.source or node.name in here
        if odd or sc.OBJECTS[node.type][0] != "GeometryClass":
            raise NotImplementedError(f"the double doesn't model an XRef of {node.name}")
    session.record()
    ids = {id: scene.next_id() for id in file.nodes}
    for node in file.nodes.values():
        made = sc.NodeData(ids[node.id], node.name, "XRefObject", _item(path, node.name))
        made.parent = None if node.parent is None else ids[node.parent]
        made.local, made.offset, made.hidden = node.local, node.offset, node.hidden
        made.controller, made.source = "XRef_Controller", (node.type, node.values)
        made.poly = node.poly
        if node.material is not None:
            name = file.materials[node.material].name
            made.material = scene.next_id()
            scene.materials[made.material] = sc.Material(
                made.material, "XRef_Material", name, _item(path, name)
            )
        scene.nodes[made.id] = made
        session.tell("nodeCreated")
    return True


def _item(path: str, name: str) -> dict[str, str]:
    return {"srcFileName": path, "srcItemName": name}


def new_layer(name: str) -> LayerProperties | None:
    """Return a new layer, or None when the name is taken."""
    scene = session.scene
    if any(layer.name == name for layer in scene.layers.values()):
        return None
    session.record()
    id = scene.next_id()
    scene.layers[id] = sc.Layer(name)
    return LayerProperties(id)


class LayerProperties(Strict):
    def __init__(self, id) -> None:
        object.__setattr__(self, "_id", id)

    def __setattr__(self, name, value):
        if name != "on":
            raise AttributeError(f"-- Unknown property, or read-only: {name!r}")
        session.record()
        session.scene.layers[self._id].on = bool(value)

    @property
    def on(self):
        return session.scene.layers[self._id].on

    def addNode(self, node):
        if not isinstance(node, Node):
            raise RuntimeError("-- Unable to convert to type: Node")
        node._changing().layer = self._id
        return True
