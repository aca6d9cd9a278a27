"""A strict double of Houdini's Python, for tests: a small node scene in memory that behaves like
Houdini's.

An unknown function, node type, parameter or menu item raises. So does a call from another thread, a
call by the package after it was unloaded, anything that would open a window and, without a GUI,
anything that needs windows. Whatever isn't modelled raises NotImplementedError. Nothing is accepted
silently.
"""

from __future__ import annotations

from typing import Any

from . import _nodes
from ._application import (  # noqa: F401
    applicationVersionString,
    fps,
    frame,
    frameToTime,
    hipFile,
    homeHoudiniDirectory,
    hscript,
    isUIAvailable,
    licenseCategory,
    playbar,
    setFrame,
    text,
    undos,
)
from ._bundles import NodeBundle, addNodeBundle, nodeBundle, nodeBundles  # noqa: F401
from ._enums import (  # noqa: F401
    EnumValue,
    displaySetType,
    exprLanguage,
    glShadingType,
    hipFileEventType,
    licenseCategoryType,
    nodeEventType,
    orientUpAxis,
    paneTabType,
    parmNamingScheme,
    parmTemplateType,
    playbarEvent,
    severityType,
    stringParmType,
)
from ._errors import (  # noqa: F401
    Error,
    InvalidInput,
    InvalidSize,
    NotAvailable,
    ObjectWasDeleted,
    OperationFailed,
    PermissionError,
)
from ._geometry import Geometry, Point, Polygon, Prim, Vertex  # noqa: F401
from ._math import BoundingBox, Matrix4, Vector2, Vector3, hmath  # noqa: F401
from ._nodes import (  # noqa: F401
    LopNode,
    NetworkMovableItem,
    Node,
    NodeType,
    NodeTypeCategory,
    ObjNode,
    OpNode,
    OpNodeType,
    RopNode,
    SopNode,
    VopNode,
    clearAllSelected,
    copyNodesTo,
    fileReferences,
    moveNodesTo,
    node,
    selectedNodes,
)
from ._parms import (  # noqa: F401
    BaseKeyframe,
    FloatParmTemplate,
    IntParmTemplate,
    Keyframe,
    MenuParmTemplate,
    Parm,
    ParmTemplate,
    ParmTemplateGroup,
    ParmTuple,
    StringParmTemplate,
    ToggleParmTemplate,
)
from ._scene import new_scene
from ._session import session
from ._takes import Take, takes  # noqa: F401
from ._types import TYPES
from ._windows import (  # noqa: F401
    Desktop,
    FlipbookSettings,
    GeometryViewport,
    GeometryViewportCamera,
    NetworkEditor,
    PaneTab,
    PythonPanel,
    SceneViewer,
    pypanel,
)


def nodeTypeCategories() -> dict[str, NodeTypeCategory]:
    return {name: NodeTypeCategory(name) for name in TYPES}


def objNodeTypeCategory() -> NodeTypeCategory:
    return NodeTypeCategory("Object")


def sopNodeTypeCategory() -> NodeTypeCategory:
    return NodeTypeCategory("Sop")


def ropNodeTypeCategory() -> NodeTypeCategory:
    return NodeTypeCategory("Driver")


def __getattr__(name: str) -> Any:
    if name == "ui" and session.windows:
        from ._windows import ui

        return ui
    raise AttributeError(f"module 'hou' has no attribute '{name}'")


def _reset(*, windows: bool) -> None:
    """Begin with an empty scene, in a Houdini with or without a GUI."""
    _nodes._callbacks.clear()
    session.reset(new_scene, windows=windows)
    if windows:
        session.panes = [NetworkEditor(), SceneViewer(current=False), SceneViewer()]


_reset(windows=False)
