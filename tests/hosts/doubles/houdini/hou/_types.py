"""The node types that are modelled, and their parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

XYZ, RGB = "xyz", "rgb"
#: What each of these nodes can be made of; their menus differ.
_CURVED = ("mesh", "nurbs", "bezier")
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Parm:
    """A parameter. ``default`` is a list for a tuple; ``suffixes`` name its parts."""

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


@dataclass(frozen=True)
class Type:
    name: str
    category: str
    children: str | None = None
    parms: dict[str, Parm] = field(default_factory=dict)
    label: str = ""
    inputs: int = 1
    #: The parameters of each entry by the parameter that counts the entries, which are numbered
    #: from 1.
    multi: dict[str, dict[str, Parm]] = field(default_factory=dict)
    #: The inputs of shader nodes.
    input_names: tuple[str, ...] = ()

    def __deepcopy__(self, memo: object) -> Type:
        """Return the same object: types never change, and each step of undo copies the scene."""
        return self

    def parm(self, name: str) -> Parm:
        if name in self.parms:
            return self.parms[name]
        stem = name.rstrip("0123456789")
        return next(each[stem] for each in self.multi.values() if stem in each)


_TRANSFORM = {
    "xOrd": menu("srt", "str", "rst", "rts", "tsr", "trs"),
    "rOrd": menu("xyz", "xzy", "yxz", "yzx", "zxy", "zyx"),
    "t": Parm([0.0] * 3),
    "r": Parm([0.0] * 3),
    "s": Parm([1.0] * 3),
    "p": Parm([0.0] * 3),
    "pr": Parm([0.0] * 3),
    "scale": number(1.0),
    "keeppos": whole(0),
    "constraints_on": whole(0),
}

_SHINING = {
    "light_enable": whole(1),
    "light_color": Parm([1.0] * 3, RGB),
    "light_intensity": number(1.0),
    "light_exposure": number(0.0),
}

_SPACES = ("auto", "linear", "sRGB")


def space(default: str) -> Parm:
    return Parm(default, menu=_SPACES, kind="String")


def textured(prefix: str, default: str = "linear", channel: bool = True) -> dict[str, Parm]:
    """Return the parameters of a principled shader for a picture."""
    return {
        f"{prefix}_useTexture": whole(0),
        f"{prefix}_texture": picture_or_file(""),
        f"{prefix}_textureColorSpace": space(default),
        **({f"{prefix}_monoChannel": menu("0", "1", "2", "3", "4")} if channel else {}),
    }


_PRINCIPLED = {
    "basecolor": Parm([0.2] * 3, RGB),
    "basecolor_usePointColor": whole(1),
    "ior": number(1.5),
    "rough": number(0.3),
    "metallic": number(0.0),
    "reflect": number(1.0),
    "transparency": number(0.0),
    "emitint": number(0.0),
    "emitcolor": Parm([1.0] * 3, RGB),
    "emitcolor_usePointColor": whole(0),
    "opac": number(1.0),
    "opaccolor": Parm([1.0] * 3, RGB),
    **textured("basecolor", "auto", channel=False),
    **textured("ior"),
    **textured("rough"),
    **textured("metallic"),
    **textured("reflect"),
    **textured("transparency"),
    **textured("emitcolor", "auto", channel=False),
    **textured("opaccolor", "auto", channel=False),
    "baseBumpAndNormal_enable": whole(0),
    "baseBumpAndNormal_type": menu("bump", "normal"),
    "baseNormal_texture": picture_or_file(""),
    "baseNormal_colorspace": space("linear"),
    "uvtrans": Parm([0.0, 0.0], "12"),
    "uvrot": number(0.0),
    "uvscale": Parm([1.0, 1.0], "12"),
}

_ALL = [
    Type("geo", "Object", "Sop", {**_TRANSFORM, "shop_materialpath": text()}, "Geometry"),
    Type("null", "Object", "Sop", dict(_TRANSFORM), "Null"),
    Type(
        "cam",
        "Object",
        "Sop",
        {
            **_TRANSFORM,
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
        },
        "Camera",
    ),
    Type(
        "hlight::2.0",
        "Object",
        "Sop",
        {
            **_TRANSFORM,
            **_SHINING,
            "light_type": Parm(
                "point",
                menu=("point", "line", "grid", "disk", "sphere", "tube", "geo", "distant", "sun"),
                kind="String",
            ),
            "atten_type": Parm("physical", menu=("none", "half", "physical"), kind="String"),
            "normalizearea": whole(1),
            "areasize": Parm([1.0, 1.0], "12"),
            "coneenable": whole(0),
            "coneangle": number(45.0),
            "conedelta": number(10.0),
            "vm_envangle": number(0.0),
        },
        "Light",
    ),
    Type(
        "envlight",
        "Object",
        "Sop",
        {**_TRANSFORM, **_SHINING, "env_map": picture_or_file("")},
        "Environment Light",
    ),
    Type("subnet", "Object", "Object", dict(_TRANSFORM), "Subnetwork", 4),
    Type(
        "sphere",
        "Sop",
        None,
        {
            "type": menu("prim", "poly", "polymesh", *_CURVED, "polysoup"),
            "rad": Parm([1.0] * 3),
            "rows": whole(13),
            "cols": whole(24),
        },
        "Sphere",
    ),
    Type(
        "box",
        "Sop",
        None,
        {
            "type": menu("poly", "polymesh", *_CURVED, "points", "prim"),
            "size": Parm([1.0] * 3),
        },
        "Box",
    ),
    Type(
        "grid",
        "Sop",
        None,
        {
            "type": menu("poly", *_CURVED, "points", "polysoup"),
            "size": Parm([10.0] * 2),
            "orient": Parm("zx", menu=("xy", "yz", "zx"), kind="Menu"),
            "rows": whole(10),
            "cols": whole(10),
        },
        "Grid",
    ),
    Type(
        "tube",
        "Sop",
        None,
        {
            "type": menu("prim", "poly", *_CURVED, "polysoup"),
            "orient": Parm("y", menu=_AXES, kind="Menu"),
            "rad": Parm([1.0, 1.0], "12"),
            "height": number(1.0),
            "rows": whole(2),
            "cols": whole(12),
            "cap": whole(0),
        },
        "Tube",
    ),
    Type(
        "torus",
        "Sop",
        None,
        {
            "type": menu("poly", *_CURVED, "polysoup"),
            "orient": Parm("y", menu=_AXES, kind="Menu"),
            "rad": Parm([1.0, 0.5]),
            "rows": whole(12),
            "cols": whole(24),
        },
        "Torus",
    ),
    Type("stash", "Sop", None, {"stash": Parm(None, kind="Data")}, "Stash"),
    Type("xform", "Sop", None, {"t": Parm([0.0] * 3), "s": Parm([1.0] * 3)}, "Transform"),
    Type("null", "Sop", None, {}, "Null"),
    Type("reverse", "Sop", None, {"group": text()}, "Reverse"),
    Type("divide", "Sop", None, {}, "Divide"),
    Type("normal", "Sop", None, {"cuspangle": number(60.0)}, "Normal"),
    Type("subdivide", "Sop", None, {"iterations": whole(1)}, "Subdivide", 2),
    Type("merge", "Sop", None, {}, "Merge", 9999),
    Type("attribwrangle", "Sop", None, {"snippet": text(editor="1", editorlang="VEX")}, "Wrangle"),
    Type("python", "Sop", None, {"python": text(editor="1", editorlang="python")}, "Python"),
    Type("file", "Sop", None, {"file": picture_or_file("default.bgeo")}, "File"),
    Type(
        "material",
        "Sop",
        None,
        {"num_materials": whole(1)},
        "Material",
        multi={"num_materials": {"group": text(), "shop_materialpath": text()}},
    ),
    Type("matnet", "Sop", "Vop", {}, "Material Network", 0),
    Type(
        "principledshader::2.0",
        "Vop",
        None,
        dict(_PRINCIPLED),
        "Principled Shader",
        inputs=7,
        input_names=("basecolor", "ior", "rough", "metallic", "reflect", "transparency", "opac"),
    ),
    Type("constant", "Vop", None, {}, "Constant", 0),
    Type("sphere", "Lop", None, {"primpath": text("/sphere1"), "radius": number(1.0)}, "Sphere"),
    Type("merge", "Lop", None, {}, "Merge", 9999),
    Type(
        "ifd",
        "Driver",
        None,
        {
            "camera": text("/obj/cam1"),
            "override_camerares": whole(0),
            "res_fraction": Parm("0.5", menu=("0.1", "0.25", "0.5", "specific"), kind="Menu"),
            "res_override": Parm([1280, 720], kind="Int"),
            "vm_picture": picture_or_file("ip"),
            "soho_foreground": whole(0),
        },
        "Mantra",
    ),
    Type(
        "opengl",
        "Driver",
        None,
        {
            "camera": text("/obj/cam1"),
            "tres": whole(0),
            "res": Parm([1280, 720], "12", kind="Int"),
            "picture": picture_or_file("$HIP/render/$HIPNAME.$OS.$F4.exr"),
        },
        "OpenGL",
    ),
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
