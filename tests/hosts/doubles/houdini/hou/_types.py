"""The node types that are modelled. Their parameters, with kinds, defaults and menus, are those of
``facts/houdini.json``. The few that no public source has are written out here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

XYZ, RGB = "xyz", "rgb"
_NODES = json.loads((Path(__file__).parents[3] / "facts/houdini.json").read_text(encoding="utf-8"))[
    "nodes"
]
_SUFFIXES = {"XYZW": "xyzw", "RGBA": "rgba", "Base1": "1234"}


@dataclass(frozen=True)
class Parm:
    """A parameter. ``default`` is a list for a tuple. ``suffixes`` name the tuple's parts."""

    default: Any
    suffixes: str | tuple[str, ...] = XYZ
    menu: tuple[str, ...] = ()
    kind: str = "Float"
    tags: dict[str, str] = field(default_factory=dict)
    holds: str = "Regular"


def text(default: str = "", **tags: str) -> Parm:
    return Parm(default, kind="String", tags=tags)


def picture_or_file(default: str) -> Parm:
    return Parm(default, kind="String", holds="FileReference")


def menu(*tokens: str) -> Parm:
    return Parm(tokens[0], menu=tokens, kind="Menu")


def number(default: float) -> Parm:
    return Parm(default)


def whole(default: int) -> Parm:
    return Parm(default, kind="Int")


def parms(type: str, names: str) -> dict[str, Parm]:
    """Return the parameters of a type, as Houdini has them."""
    return {name: _parm(_NODES[type]["parms"][name]) for name in names.split()}


def _parm(fact: dict[str, Any]) -> Parm:
    kind, words, default = fact["kind"], tuple(fact.get("menu", ())), fact.get("default")
    size = fact.get("size", 1)
    if isinstance(default, list) and size == 1:
        (default,) = default
    if kind == "Menu":
        default = words[default]
    elif kind in ("Int", "Toggle"):
        default = [int(each) for each in default] if size > 1 else int(default)
    elif kind == "Float":
        default = [float(each) for each in default] if size > 1 else float(default)
    elif kind == "Data":
        default = None
    holds = "FileReference" if fact.get("file") else "Regular"
    suffixes = _SUFFIXES[fact.get("naming", "XYZW")]
    return Parm(default, suffixes, words, kind, holds=holds)


#: Types in pickled scenes, by id.
_PICKLED: dict[int, Any] = {}


def _pickled(number: int) -> Type:
    return _PICKLED[number]


@dataclass(frozen=True)
class Type:
    name: str
    category: str
    children: str | None = None
    parms: dict[str, Parm] = field(default_factory=dict)
    label: str = ""
    inputs: int = 1
    #: The parameters of each entry, by the parameter that counts the entries. Entries are numbered
    #: from 1.
    multi: dict[str, dict[str, Parm]] = field(default_factory=dict)
    #: The inputs of shader nodes.
    input_names: tuple[str, ...] = ()

    def __deepcopy__(self, memo: object) -> Type:
        """Return the same object: types never change, and each step of undo copies the scene."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        _PICKLED[id(self)] = self
        return _pickled, (id(self),)

    def parm(self, name: str) -> Parm:
        if name in self.parms:
            return self.parms[name]
        stem = name.rstrip("0123456789")
        return next(each[stem] for each in self.multi.values() if stem in each)


_TRANSFORM = "xOrd rOrd t r s p pr scale keeppos constraints_on"
_SHINING = "light_enable light_color light_intensity light_exposure"
_PICTURES = "useTexture texture textureColorSpace"
_PRINCIPLED = " ".join(
    (
        "basecolor basecolor_usePointColor ior rough metallic reflect transparency emitint",
        "emitcolor emitcolor_usePointColor opac opaccolor",
        *(
            f"{slot}_{each}"
            for slot in ("basecolor", "emitcolor", "opaccolor")
            for each in _PICTURES.split()
        ),
        *(
            f"{slot}_{each}"
            for slot in ("ior", "rough", "metallic", "reflect", "transparency")
            for each in (*_PICTURES.split(), "monoChannel")
        ),
        "baseBumpAndNormal_enable baseBumpAndNormal_type baseNormal_texture",
        "baseNormal_colorspace uvtrans uvrot uvscale",
    )
)
#: The parameters that Houdini's own script adds to a new camera, as on the node's page.
_LENS = {
    "aperture": number(41.4214),
    "focal": number(50.0),
    "near": number(0.001),
    "far": number(10000.0),
    "focalunits": Parm("mm", menu=("mm", "m", "nm", "in", "ft"), kind="String"),
    "projection": menu("perspective", "ortho", "sphere", "cylinder", "lens"),
    "focus": number(5.0),
    "fstop": number(5.6),
    "res": Parm([1280, 720], kind="Int"),
    "aspect": number(1.0),
}
#: The color spaces of Houdini's own configuration. Houdini adds them to a menu when it opens.
_SPACES = ("auto", "linear", "sRGB")


def _with_spaces(known: dict[str, Parm]) -> dict[str, Parm]:
    return {
        name: replace(parm, menu=_SPACES) if name.lower().endswith("colorspace") else parm
        for name, parm in known.items()
    }


def _with_tags(known: dict[str, Parm], name: str, **tags: str) -> dict[str, Parm]:
    return {**known, name: replace(known[name], default="", tags=tags)}


_ALL = [
    Type(
        "geo", "Object", "Sop", parms("Object/geo", f"{_TRANSFORM} shop_materialpath"), "Geometry"
    ),
    Type("null", "Object", "Sop", parms("Object/null", _TRANSFORM), "Null"),
    Type("cam", "Object", "Sop", {**parms("Object/cam", _TRANSFORM), **_LENS}, "Camera"),
    Type(
        "hlight::2.0",
        "Object",
        "Sop",
        parms(
            "Object/hlight::2.0",
            f"{_TRANSFORM} {_SHINING} light_type atten_type normalizearea areasize coneenable"
            " coneangle conedelta vm_envangle",
        ),
        "Light",
    ),
    Type(
        "envlight",
        "Object",
        "Sop",
        parms("Object/envlight", f"{_TRANSFORM} {_SHINING} env_map"),
        "Environment Light",
    ),
    Type("subnet", "Object", "Object", parms("Object/subnet", _TRANSFORM), "Subnetwork", 4),
    Type("sphere", "Sop", None, parms("Sop/sphere", "type rad rows cols"), "Sphere"),
    Type("box", "Sop", None, parms("Sop/box", "type size"), "Box"),
    Type("grid", "Sop", None, parms("Sop/grid", "type size orient rows cols"), "Grid"),
    Type("tube", "Sop", None, parms("Sop/tube", "type orient rad height rows cols cap"), "Tube"),
    Type("torus", "Sop", None, parms("Sop/torus", "type orient rad rows cols"), "Torus"),
    Type("stash", "Sop", None, parms("Sop/stash", "stash"), "Stash"),
    Type("xform", "Sop", None, parms("Sop/xform", "t s"), "Transform"),
    Type("null", "Sop", None, {}, "Null"),
    Type("reverse", "Sop", None, parms("Sop/reverse", "group"), "Reverse"),
    Type("divide", "Sop", None, {}, "Divide"),
    Type("normal", "Sop", None, parms("Sop/normal", "cuspangle"), "Normal"),
    Type("subdivide", "Sop", None, parms("Sop/subdivide", "iterations"), "Subdivide", 2),
    Type("merge", "Sop", None, {}, "Merge", 9999),
    Type(
        "attribwrangle",
        "Sop",
        None,
        _with_tags(parms("Sop/attribwrangle", "snippet"), "snippet", editor="1", editorlang="VEX"),
        "Wrangle",
    ),
    Type(
        "python",
        "Sop",
        None,
        _with_tags(parms("Sop/python", "python"), "python", editor="1", editorlang="python"),
        "Python",
    ),
    Type("file", "Sop", None, parms("Sop/file", "file"), "File"),
    Type(
        "material",
        "Sop",
        None,
        # No dump has the parameter that counts the others.
        {"num_materials": whole(1)},
        "Material",
        multi={"num_materials": {"group": text(), "shop_materialpath": text()}},
    ),
    Type("matnet", "Sop", "Vop", {}, "Material Network", 0),
    Type(
        "principledshader::2.0",
        "Vop",
        None,
        _with_spaces(parms("Vop/principledshader::2.0", _PRINCIPLED)),
        "Principled Shader",
        inputs=7,
        input_names=("basecolor", "ior", "rough", "metallic", "reflect", "transparency", "opac"),
    ),
    Type("constant", "Vop", None, {}, "Constant", 0),
    Type("sphere", "Lop", None, parms("Lop/sphere", "primpath radius"), "Sphere"),
    Type("merge", "Lop", None, {}, "Merge", 9999),
    Type(
        "ifd",
        "Driver",
        None,
        parms(
            "Driver/ifd",
            "camera override_camerares res_fraction res_override vm_picture soho_foreground",
        ),
        "Mantra",
    ),
    Type("opengl", "Driver", None, parms("Driver/opengl", "camera tres res picture"), "OpenGL"),
]
TYPES: dict[str, dict[str, Type]] = {}
for _type in _ALL:
    TYPES.setdefault(_type.category, {})[_type.name] = _type

#: The networks of every scene, and their kind of content.
MANAGERS = {"obj": "Object", "stage": "Lop", "out": "Driver", "mat": "Vop"}


def resolve(category: str, name: str) -> Type | None:
    """Return the type by its name, with or without the version."""
    known = TYPES.get(category, {})
    if name in known:
        return known[name]
    return next((t for n, t in known.items() if n.split("::")[0] == name), None)
