"""The names that skills import: helpers for reading back, framing and importing, and the types of
the ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.ground.lazy_names import lazy_names

#: Modules, and the names that are public in each.
_HOMES = {
    "callboard.ground.atomic_write": "replacing_bytes",
    "callboard.ground.colors": "linear of_kelvin",
    "callboard.ground.held_folder": "held require_folder",
    "callboard.ground.matrices": "compose unit",
    "callboard.ground.named_files": "held_to_roots outside refuse_outside",
    "callboard.ground.nearest_names": "names_hint",
    "callboard.ground.orbit": "around reaching",
    "callboard.ground.ranking": "Ranking words",
    "callboard.ground.png": "NotAPicture Picture decode encode picture_format",
    "callboard.host_kit.aim": "box_of facing place placed point_of",
    "callboard.host_kit.face_direction": "normals_of",
    "callboard.host_kit.mesh_facts": "faces_of mesh_facts",
    "callboard.manuals.search": "search_manuals",
    "callboard.ports.check": "Fault MeshData MeshFacts",
    "callboard.ports.edit": "DIMENSIONS",
    "callboard.ports.exchange": "Axes FileFormat SUFFIXES WITH_UVS format_json format_of",
    "callboard.ports.look": "Look from_angle",
    "callboard.ports.materials": "Texture",
    "callboard.ports.modelling": "MODIFIERS",
    "callboard.skill_kit.framing": "around_point axes_of corners filled framed",
    "callboard.skill_kit.import_files": "SHOWN asked_axes axes_as_json import_checked",
    "callboard.skill_kit.pictures": "difference fitted numbers_of sheet shrunk",
    "callboard.skill_kit.reading": "covered in_slices",
    "callboard.skill_kit.read_back": (
        "alike all_near done expect expect_same_bounds expect_that expect_transform "
        "expect_turned near"
    ),
    "callboard.skill_kit.surfaces": (
        "COLORS assign_material new_material put_texture set_values space_of"
    ),
    "callboard.skill_kit.surroundings": "surround",
    "callboard.skill_kit.uv_facts": "uv_facts",
}

if TYPE_CHECKING:
    from callboard.ground.atomic_write import *
    from callboard.ground.colors import *
    from callboard.ground.held_folder import *
    from callboard.ground.matrices import *
    from callboard.ground.named_files import *
    from callboard.ground.nearest_names import *
    from callboard.ground.orbit import *
    from callboard.ground.png import *
    from callboard.ground.ranking import *
    from callboard.host_kit.aim import *
    from callboard.host_kit.face_direction import *
    from callboard.host_kit.mesh_facts import *
    from callboard.manuals.search import *
    from callboard.ports.check import *
    from callboard.ports.edit import *
    from callboard.ports.exchange import *
    from callboard.ports.look import *
    from callboard.ports.materials import *
    from callboard.ports.modelling import *
    from callboard.skill_kit.framing import *
    from callboard.skill_kit.import_files import *
    from callboard.skill_kit.pictures import *
    from callboard.skill_kit.read_back import *
    from callboard.skill_kit.reading import *
    from callboard.skill_kit.surfaces import *
    from callboard.skill_kit.surroundings import *
    from callboard.skill_kit.uv_facts import *
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
