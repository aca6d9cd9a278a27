"""Lights: Maya's own, Arnold's, and the attributes that Arnold's plug-in, once loaded, adds to
Maya's."""

from __future__ import annotations

from typing import Any

from ._scene import ATTRIBUTES, Node, Scene

MTOA = "mtoa"
MAYAS = ("ambientLight", "areaLight", "directionalLight", "pointLight", "spotLight")
ARNOLDS = ("aiAreaLight", "aiSkyDomeLight")

_EVERY: dict[str, Any] = {
    "overrideEnabled": False,
    "overrideVisibility": True,
    "drawOverride": None,
    "color": [1.0, 1.0, 1.0],
    "intensity": 1.0,
}
#: The attributes that Arnold's plug-in adds to each light that it renders.
_ARNOLD: dict[str, Any] = {
    "aiExposure": 0.0,
    "aiNormalize": True,
    "aiUseColorTemperature": False,
    "aiColorTemperature": 6500.0,
}
_OWN: dict[str, dict[str, Any]] = {
    "ambientLight": {"ambientShade": 0.45},
    "areaLight": {"decayRate": 0},
    "directionalLight": {"lightAngle": 0.0},
    "pointLight": {"decayRate": 0, "lightRadius": 0.0},
    "spotLight": {"decayRate": 0, "lightRadius": 0.0, "coneAngle": 40.0, "penumbraAngle": 0.0},
    "aiAreaLight": {**_ARNOLD, "aiTranslator": "quad"},
    "aiSkyDomeLight": {**_ARNOLD, "format": 2},
}
_ADDED: dict[str, dict[str, Any]] = {
    "areaLight": _ARNOLD,
    "directionalLight": {**_ARNOLD, "aiAngle": 0.0},
    "pointLight": {**_ARNOLD, "aiRadius": 0.0},
    "spotLight": {**_ARNOLD, "aiRadius": 0.0},
}
for _type, _attributes in _OWN.items():
    ATTRIBUTES[_type] = {**_EVERY, **_attributes}


def attributes(type):
    """Return a light's own attributes, by the type of its shape."""
    return _OWN.get(type, {})


def types(arnold: bool) -> list[str]:
    return [*MAYAS, *(ARNOLDS if arnold else ())]


def extend(node: Node) -> None:
    """Give the node the attributes that Arnold's plug-in adds."""
    for name, value in _ADDED.get(node.type, {}).items():
        node.attributes.setdefault(name, value)


def make(scene: Scene, type: str, name: str | None, arnold: bool) -> str:
    """Make a light. Return the name that ``shadingNode`` returns, which is the shape's for Arnold's
    lights."""
    if type not in types(arnold):
        raise RuntimeError(f"Unknown object type: {type}")
    above = scene.add("transform", name or f"{type}1", dag=True)
    shape = scene.add(type, f"{above.name}Shape", above.id, dag=True)
    if arnold:
        extend(shape)
    return scene.short(shape if type in ARNOLDS else above)
