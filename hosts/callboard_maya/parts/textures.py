"""Connects pictures to an attribute of a material or of the sky dome, through a place2dTexture, a
file node, and for normals a bump2d."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_maya.application.names import bare

#: Picture formats that Maya's own readers support.
_PICTURES = (
    *(".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr", ".hdr", ".tga", ".bmp", ".gif"),
    *(".iff", ".psd", ".sgi", ".rla", ".tx", ".dds"),
)
#: Names in the color configurations of Maya 2022 and later, best first.
_SPACES = {
    "srgb": ("sRGB", "sRGB Encoded Rec.709 (sRGB)", "Utility - sRGB - Texture"),
    "raw": ("Raw", "Utility - Raw"),
}
_CHANNELS = {"r": "outColorR", "g": "outColorG", "b": "outColorB", "a": "outAlpha"}
#: The attributes that Maya's own menu connects.
_PLACED = (
    *("coverage", "translateFrame", "rotateFrame", "mirrorU", "mirrorV", "stagger", "wrapU"),
    *("wrapV", "repeatUV", "offset", "rotateUV", "noiseUV", "vertexUvOne", "vertexUvTwo"),
    *("vertexUvThree", "vertexCameraOne"),
)
#: Types of nodes that are removed with the picture for which they were made.
_TEXTURE_NODES = ("file", "place2dTexture", "bump2d")
#: The bump2d mode for tangent space normals.
_TANGENT_SPACE = 1


def sources(plug: str) -> list[tuple[str, str]]:
    """Return what drives the plug or a part of it: pairs of a source plug and the driven plug."""
    parts = [f"{plug}{part}" for part in "RGB"] if _is_color(plug) else []
    driving = []
    for each in (plug, *parts):
        above = cmds.listConnections(each, source=True, destination=False, plugs=True)
        driving += [(str(source), each) for source in above or []]
    return driving


def read(plug: str) -> Json | None:
    """Return the texture that drives the plug, or None."""
    driving = sources(plug)
    if not driving:
        return None
    node, _, output = driving[0][0].partition(".")
    if cmds.nodeType(node) == "bump2d":
        before = sources(f"{node}.bumpValue")
        if not before:
            return _unknown()
        node, output = before[0][0].partition(".")[0], "outColor"
    if cmds.nodeType(node) != "file":
        return _unknown()
    channel = next((key for key, name in _CHANNELS.items() if name == output), None)
    if channel == "a" and cmds.getAttr(f"{node}.alphaIsLuminance"):
        channel = None
    space = str(cmds.getAttr(f"{node}.colorSpace"))
    return {
        "path": str(cmds.getAttr(f"{node}.fileTextureName") or "") or None,
        "color_space": next((key for key, names in _SPACES.items() if space in names), space),
        "uv_scale": _uv_scale(node),
        "channel": channel,
    }


def clear(plug: str) -> None:
    """Disconnect what drives the plug, and delete nodes that nothing else uses. Raises HostError
    when keys drive the plug."""
    driving = sources(plug)
    loose = []
    for source, driven in driving:
        node = source.partition(".")[0]
        if str(cmds.nodeType(node)).startswith("animCurve"):
            raise HostError(f"{plug} is animated; delete its keys in Maya first")
        cmds.disconnectAttr(source, driven)
        loose.append(node)
    while loose:
        node = loose.pop()
        unneeded = cmds.objExists(node) and cmds.nodeType(node) in _TEXTURE_NODES
        if not unneeded or _is_used(node):
            continue
        loose += cmds.listConnections(node, source=True, destination=False) or []
        cmds.delete(node)


def connect(plug: str, slot: str, texture: Texture) -> None:
    """Connect the texture. Raises HostError for a picture that Maya can't read, because Maya itself
    reads the picture only when it draws."""
    if Path(texture.path).suffix.lower() not in _PICTURES:
        raise HostError(
            f"Maya can't read '{Path(texture.path).name}'; its suffix must be one of "
            f"{', '.join(_PICTURES)}"
        )
    space = _space(texture.color_space)
    clear(plug)
    name = f"{bare(plug.partition('.')[0]).replace(':', '_')}_{slot}"
    file = _picture(name, texture, space)
    if slot == "normal":
        bump = cmds.shadingNode("bump2d", asUtility=True, name=f"{name}_bump", skipSelect=True)
        cmds.setAttr(f"{bump}.bumpInterp", _TANGENT_SPACE)
        cmds.connectAttr(f"{file}.outAlpha", f"{bump}.bumpValue")
        cmds.connectAttr(f"{bump}.outNormal", plug)
    elif _is_color(plug) and texture.channel is None:
        cmds.connectAttr(f"{file}.outColor", plug)
    else:
        # Without a channel, the number is the picture's brightness.
        cmds.setAttr(f"{file}.alphaIsLuminance", texture.channel is None)
        output = f"{file}.{_CHANNELS[texture.channel or 'a']}"
        for part in "RGB" if _is_color(plug) else ("",):
            cmds.connectAttr(output, f"{plug}{part}")


def _picture(name: str, texture: Texture, space: str) -> str:
    """Return a new file node with its placement."""
    file = cmds.shadingNode("file", asTexture=True, isColorManaged=True, name=name, skipSelect=True)
    place = cmds.shadingNode(
        "place2dTexture", asUtility=True, name=f"{name}_place", skipSelect=True
    )
    for attribute in _PLACED:
        cmds.connectAttr(f"{place}.{attribute}", f"{file}.{attribute}")
    cmds.connectAttr(f"{place}.outUV", f"{file}.uvCoord")
    cmds.connectAttr(f"{place}.outUvFilterSize", f"{file}.uvFilterSize")
    cmds.setAttr(f"{place}.repeatUV", *texture.uv_scale, type="double2")
    cmds.setAttr(f"{file}.fileTextureName", texture.path, type="string")
    # Without this, Maya's rules would choose the color space by the file's name.
    cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
    cmds.setAttr(f"{file}.colorSpace", space, type="string")
    return str(file)


def _space(wanted: str) -> str:
    # The published stubs declare the list as a flag.
    names: Any = cmds.colorManagementPrefs(query=True, inputSpaceNames=True)
    known = [str(name) for name in names or ()]
    for name in _SPACES[wanted]:
        if name in known:
            return name
    raise HostError(
        f"this scene's color configuration has no {' or '.join(_SPACES[wanted])}; it has"
        f" {', '.join(known[:12])}"
    )


def _is_used(node: str) -> bool:
    """Return whether anything uses the node, apart from Maya's own lists of nodes, which are
    connected to its message."""
    pairs = cmds.listConnections(node, source=False, destination=True, connections=True, plugs=True)
    return any(not str(own).endswith(".message") for own in (pairs or [])[::2])


def _uv_scale(file: str) -> list[float]:
    placing = cmds.listConnections(f"{file}.uvCoord", source=True, destination=False)
    if not placing or cmds.nodeType(placing[0]) != "place2dTexture":
        return [1.0, 1.0]
    return [float(value) for value in cmds.getAttr(f"{placing[0]}.repeatUV")[0]]


def _is_color(plug: str) -> bool:
    return plug.endswith(("Color", ".color", ".opacity"))


def _unknown() -> Json:
    return {"path": None, "color_space": None, "uv_scale": None, "channel": None}
