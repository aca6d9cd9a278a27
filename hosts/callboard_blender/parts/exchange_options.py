"""Blender's registered operators that import and export files of other programs, with their
arguments. The operators of an add-on are available only while the add-on is enabled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import UNSTATED, Axes
from callboard_blender.application.names import objects, scene

#: Import operators by format. The operators of newer versions of Blender come first.
_READERS = {
    "gltf": ("import_scene.gltf",),
    "fbx": ("wm.fbx_import", "import_scene.fbx"),
    "obj": ("wm.obj_import",),
    "stl": ("wm.stl_import", "import_mesh.stl"),
    "ply": ("wm.ply_import", "import_mesh.ply"),
    "alembic": ("wm.alembic_import",),
}
_WRITERS = {
    "gltf": ("export_scene.gltf",),
    "fbx": ("export_scene.fbx",),
    "obj": ("wm.obj_export",),
    "stl": ("wm.stl_export", "export_mesh.stl"),
    "ply": ("wm.ply_export", "export_mesh.ply"),
    "alembic": ("wm.alembic_export",),
}
_ADD_ONS = {"gltf": "glTF 2.0 format", "fbx": "FBX format", "stl": "STL format"}
#: The names of the importers' arguments for the factor that converts a file's units to the scene's.
_SCALES = {"global_scale", "scale"}
_FORWARD = {"Y": ("NEGATIVE_Z", "-Z"), "Z": ("Y", "Y")}


@dataclass(frozen=True)
class Operator:
    """One operator. ``properties`` are Blender's own descriptions of the operator's arguments."""

    call: Any
    properties: Mapping[str, Any]

    def known(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that this version has. Raises HostError for a number that Blender
        would clamp."""
        taken = {name: value for name, value in options.items() if name in self.properties}
        for name, value in taken.items():
            property = self.properties[name]
            if property.type == "FLOAT" and not property.hard_min <= value <= property.hard_max:
                raise HostError(
                    f"Blender can scale by {property.hard_min:.4g} to {property.hard_max:.4g}, but"
                    f" not by {value:g}; use another meters_per_unit"
                )
        return taken


def reader_of(kind: str) -> Operator | None:
    """Return the importer if it works in this Blender. Older PLY importers don't support units, and
    older glTF importers fail with newer versions of numpy."""
    if _numpy_is_missing(kind) or (kind == "gltf" and _breaks_at_numpy()):
        return None
    operator = _first(_READERS[kind])
    if operator is None or kind not in UNSTATED or _SCALES & operator.properties.keys():
        return operator
    return None


def writer_of(kind: str) -> Operator | None:
    return None if _numpy_is_missing(kind) else _first(_WRITERS[kind])


def _numpy_is_missing(kind: str) -> bool:
    """Return whether the format needs numpy and numpy is missing. Blender's own builds include it,
    but an operating system's package may not."""
    return kind in ("fbx", "gltf") and find_spec("numpy") is None


def _breaks_at_numpy() -> bool:
    if bpy.app.version >= (3, 6, 0):
        return False
    import numpy

    return not hasattr(numpy, "bool")


def missing(kind: str) -> str:
    """Return a message that explains why there is no operator and what to do."""
    if _numpy_is_missing(kind):
        return f"Blender's {kind} add-on needs numpy for its Python; install python3-numpy"
    if kind == "gltf" and _breaks_at_numpy():
        return "this Blender's glTF add-on can't import with its numpy; use a newer Blender"
    if kind == "ply" and _first(_READERS[kind]):
        return "this Blender imports PLY without units; use Blender 3.6 or later"
    if kind in _ADD_ONS:
        return (
            f"Blender's add-on '{_ADD_ONS[kind]}' is switched off or not installed; the artist"
            " switches it on in Preferences, Add-ons"
        )
    return f"this Blender was built without {kind}"


def import_options(operator: Operator, path: str, kind: str, axes: Axes | None) -> dict[str, Any]:
    unit = float(scene().unit_settings.scale_length)
    options: dict[str, Any] = {"filepath": path}
    if axes is not None:
        options |= _counted(kind, axes, axes.meters_per_unit / unit)
    elif kind == "fbx" and "use_image_search" not in operator.properties:
        # The newer operator ignores the scene's unit.
        options["global_scale"] = 1 / unit
    options |= {
        "set_frame_range": False,
        "use_image_search": False,
        "use_custom_props": False,
        "import_scene_as_collection": False,
    }
    return operator.known(options)


def export_options(
    operator: Operator, kind: str, axes: Axes | None, selected: bool, moving: bool
) -> dict[str, Any]:
    shown = scene()
    options: dict[str, Any] = {
        "check_existing": False,
        "use_selection": selected,
        "export_selected_objects": selected,
        "selected": selected,
    }
    if axes is not None:
        scale = float(shown.unit_settings.scale_length) / axes.meters_per_unit
        options |= _counted(kind, axes, scale)
    if kind == "gltf":
        # The exporter can't both apply modifiers and export shape keys, and warns about each
        # object.
        keys = any(getattr(each.data, "shape_keys", None) for each in objects())
        options |= {
            "export_format": "GLB",
            "use_active_scene": True,
            "export_apply": not keys,
            "export_cameras": True,
            "export_lights": True,
            "export_animations": moving,
        }
    elif kind == "fbx":
        options |= {
            "path_mode": "COPY",
            "embed_textures": True,
            "add_leaf_bones": False,
            "bake_anim": moving,
            "bake_anim_use_all_actions": False,
            "bake_anim_use_nla_strips": False,
        }
    elif kind == "obj":
        options |= {"path_mode": "COPY", "export_pbr_extensions": True}
    elif kind == "alembic":
        now = shown.frame_current
        first, last = (shown.frame_start, shown.frame_end) if moving else (now, now)
        options |= {"start": first, "end": last, "init_scene_frame_range": False}
        options["export_custom_properties"] = False
    return operator.known(options)


def _counted(kind: str, axes: Axes, scale: float) -> dict[str, Any]:
    """Return scale and axes under both spellings, because operators that used to be add-ons spell
    them differently."""
    if kind == "alembic":
        if axes.up_axis != "Y":
            raise HostError("Alembic files always have Y up; leave up_axis out")
        return {"global_scale": scale, "scale": scale}
    forward, short = _FORWARD[axes.up_axis]
    return {
        "global_scale": scale,
        "up_axis": axes.up_axis,
        "forward_axis": forward,
        "axis_up": axes.up_axis,
        "axis_forward": short,
    }


def _first(names: tuple[str, ...]) -> Operator | None:
    """Return the first operator that the running Blender has. A missing operator has no type."""
    for name in names:
        group, _, own = name.partition(".")
        call = getattr(getattr(bpy.ops, group), own)
        try:
            described = call.get_rna_type()
        except (AttributeError, KeyError, RuntimeError):
            continue
        return Operator(call, {each.identifier: each for each in described.properties})
    return None
