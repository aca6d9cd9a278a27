"""Display layers. Each draws its members, which are connected to it. A hidden layer hides them and
everything below them, whatever their own attributes say."""

from __future__ import annotations

from ._dag_commands import given_or_selected, one
from ._registry import command
from ._scene import Node
from ._session import session


@command(undoable=True)
def createDisplayLayer(*names, name="layer1", empty=False, noRecurse=False):
    layer = session.scene.add("displayLayer", name)
    if not empty:
        _put(layer, given_or_selected(names), noRecurse)
    return layer.name


@command(undoable=True)
def editDisplayLayerMembers(layer, *names, fullNames=False, noRecurse=False, mode="create"):
    scene, drawing = session.scene, one(layer)
    if drawing.type != "displayLayer":
        raise RuntimeError(f"'{layer}' is not a display layer.")
    if mode == "query":
        members = [c[2] for c in scene.connections if c[0] == drawing.id and c[3] == "drawOverride"]
        tell = scene.path if fullNames else scene.short
        return [tell(scene.nodes[id]) for id in members] or None
    _put(drawing, list(names), noRecurse)
    return None


def _put(layer: Node, names: list[str], alone: bool) -> None:
    """Put nodes into the layer. A node is in one layer at a time. Without ``noRecurse``, everything
    below the nodes is put into the layer too."""
    scene = session.scene
    for name in names:
        node = one(name)
        if not node.dag:
            raise RuntimeError(f"'{name}' can't be a member of a display layer.")
        for each in (node, *([] if alone else scene.below(node.id))):
            scene.connections = [c for c in scene.connections if c[2:] != (each.id, "drawOverride")]
            scene.connections.append((layer.id, "drawInfo", each.id, "drawOverride"))
