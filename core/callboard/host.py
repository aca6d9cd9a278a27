"""What an adapter imports: the host contract, wherever in :mod:`callboard.ports` it stands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callboard.content import Json
    from callboard.ports.capability_names import FARM
    from callboard.ports.check import CHECK, CheckPort, Fault, MeshData, UsedFile
    from callboard.ports.contract import (
        ANIMATION,
        FILESYSTEM_READ,
        FILESYSTEM_WRITE,
        RENDER,
        SCENE_MUTATE,
        SCENE_READ,
        SCRIPT,
        USD,
        VIEWPORT,
        AmbiguousName,
        AnimationPort,
        Host,
        HostEvent,
        HostIdentity,
        ObjectNotFound,
        PlugIn,
        PrimitiveKind,
        RenderPort,
        SceneEditor,
        SceneFiles,
        SceneReader,
        ScriptPort,
        UndoPort,
        UsdPort,
        Vector,
        ViewportPort,
        Work,
        nearest_names,
    )
    from callboard.ports.docs import DOCS, DocEntry, DocsPort
    from callboard.ports.exchange import EXCHANGE, Axes, ExchangePort, FileFormat
    from callboard.ports.look import LOOK, Look, LookPort
    from callboard.ports.network import NETWORK, Network, NetworkPort
    from callboard.ports.picture_ports import (
        CAMERAS,
        LIGHTS,
        MATERIALS,
        CamerasPort,
        LightKind,
        LightsPort,
        MaterialNotFound,
        MaterialsPort,
        Texture,
    )
    from callboard.ports.scene_ports import (
        ATTRIBUTES,
        STRUCTURE,
        AttributesPort,
        GroupNotFound,
        StructurePort,
    )
    from callboard.ports.shaping import (
        GEOMETRY,
        MODELLING,
        CleanedFault,
        FacesLook,
        GeometryPort,
        ModellingPort,
        SubdivisionScheme,
        UnwrapMethod,
    )

__all__ = [
    "ANIMATION",
    "ATTRIBUTES",
    "CAMERAS",
    "CHECK",
    "DOCS",
    "EXCHANGE",
    "FARM",
    "FILESYSTEM_READ",
    "FILESYSTEM_WRITE",
    "GEOMETRY",
    "LIGHTS",
    "LOOK",
    "MATERIALS",
    "MODELLING",
    "NETWORK",
    "RENDER",
    "SCENE_MUTATE",
    "SCENE_READ",
    "SCRIPT",
    "STRUCTURE",
    "USD",
    "VIEWPORT",
    "AmbiguousName",
    "AnimationPort",
    "AttributesPort",
    "Axes",
    "CamerasPort",
    "CheckPort",
    "CleanedFault",
    "DocEntry",
    "DocsPort",
    "ExchangePort",
    "FacesLook",
    "Fault",
    "FileFormat",
    "GeometryPort",
    "GroupNotFound",
    "Host",
    "HostEvent",
    "HostIdentity",
    "Json",
    "LightKind",
    "LightsPort",
    "Look",
    "LookPort",
    "MaterialNotFound",
    "MaterialsPort",
    "MeshData",
    "ModellingPort",
    "Network",
    "NetworkPort",
    "ObjectNotFound",
    "PlugIn",
    "PrimitiveKind",
    "RenderPort",
    "SceneEditor",
    "SceneFiles",
    "SceneReader",
    "ScriptPort",
    "StructurePort",
    "SubdivisionScheme",
    "Texture",
    "UndoPort",
    "UnwrapMethod",
    "UsdPort",
    "UsedFile",
    "Vector",
    "ViewportPort",
    "Work",
    "nearest_names",
]

# Each is loaded when it is asked for: a host pays for the ports that it has.
_HOMES = (
    "contract",
    "capability_names",
    "check",
    "docs",
    "exchange",
    "look",
    "network",
    "picture_ports",
    "scene_ports",
    "shaping",
)


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = import_module(f"callboard.ports.{home}")
        if hasattr(module, name):
            value = globals()[name] = getattr(module, name)
            return value
    raise AttributeError(f"module 'callboard.host' has no attribute '{name}'")
