"""The names that adapters import: the host contract, its ports, and what adapters share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.ground.lazy_names import lazy_names as lazy_names

#: Modules, and the names that are public in each.
_HOMES = {
    "callboard.content": "Json",
    "callboard.ground.atomic_write": "mode_to_keep pointed_at replacing replacing_bytes",
    "callboard.ground.colors": "of_kelvin",
    "callboard.ground.folders": "cache_folder",
    "callboard.ground.held_folder": "require_folder",
    "callboard.ground.lazy_names": "lazy_names",
    "callboard.ground.matrices": (
        "Components Rows compose decompose inverse rows_of_sixteen sixteen_of times unit "
        "without_jumps"
    ),
    "callboard.ground.named_files": (
        "beginning held_to_roots of_many outside refuse_outside unreadable"
    ),
    "callboard.ground.nearest_names": "nearest_names",
    "callboard.ground.orbit": "Point View around numbered orbiting",
    "callboard.ground.png": "Picture decode encode",
    "callboard.ground.suffixes": "checked_suffix",
    "callboard.ground.unattended": "UNATTENDED comes_back holds_window",
    "callboard.ground.written_files": "put_in_place",
    "callboard.guest.thread_pause": "ThreadPause",
    "callboard.guest.turn": "Interrupted",
    "callboard.host_kit.aim": "placed",
    "callboard.host_kit.exchange_files": "fbx_axes gltf_bytes gltf_parts is_such",
    "callboard.host_kit.face_direction": "faces_to_turn normals_of triangles_of",
    "callboard.host_kit.light_values": "OWN POWER SIZE known_values refuse_unknown watts",
    "callboard.host_kit.mesh_facts": "counted faces_of rounded",
    "callboard.host_kit.misread_paths": "from_elsewhere holds_variable misread_by_usd",
    "callboard.host_kit.script_code": "run_python",
    "callboard.host_kit.torus": "ACROSS AROUND torus",
    "callboard.host_kit.usd_depth": "check_usd_nesting",
    "callboard.host_kit.usd_files": (
        "USD_READ_SUFFIXES USD_WRITE_SUFFIXES export_result metadata_result open_stage"
    ),
    "callboard.host_kit.usd_named": "refuse_usd_outside",
    "callboard.ports.animation": "AnimationPort",
    "callboard.ports.attributes": "AttributeNotFound AttributesPort MOST_ELEMENTS",
    "callboard.ports.cameras": "CamerasPort",
    "callboard.ports.capability_names": (
        "ANIMATION ATTRIBUTES CAMERAS CHECK DOCS EXCHANGE FARM FILE FILESYSTEM_READ "
        "FILESYSTEM_WRITE GEOMETRY LIGHTS LOOK MATERIALS MODELLING NETWORK RENDER "
        "SCENE_MUTATE SCENE_READ SCRIPT STRUCTURE USD VIEWPORT"
    ),
    "callboard.ports.check": "CheckPort Fault MeshData UsedFile no_validators",
    "callboard.ports.host": "Host HostEvent HostIdentity PlugIn Work",
    "callboard.ports.docs": "DocEntry DocsPort KeptDocs MOST_LISTED",
    "callboard.ports.edit": "NotOffered PrimitiveKind SceneEditor Vector",
    "callboard.ports.exchange": (
        "Axes ExchangePort FileFormat SUFFIXES UNSTATED UpAxis kind_of lacking_uvs"
    ),
    "callboard.ports.file": "FilePort NamedFile",
    "callboard.ports.files": "SceneFiles",
    "callboard.ports.geometry": "FacesLook GeometryPort SubdivisionScheme",
    "callboard.ports.lights": "LightKind LightsPort",
    "callboard.ports.look": "Look LookPort",
    "callboard.ports.materials": "MaterialNotFound MaterialsPort Texture",
    "callboard.ports.modelling": "CleanedFault ModellingPort UnwrapMethod",
    "callboard.ports.network": "Network NetworkPort",
    "callboard.ports.render": "RenderPort",
    "callboard.ports.scene": "AmbiguousName MOST_KEYS ObjectNotFound SceneReader",
    "callboard.ports.script": "ScriptPort",
    "callboard.ports.structure": "GroupNotFound StructurePort",
    "callboard.ports.undo": "UndoPort",
    "callboard.ports.usd": "UsdPort",
    "callboard.ports.viewport": "ViewportPort",
}

if TYPE_CHECKING:
    from callboard.content import *
    from callboard.ground.atomic_write import *
    from callboard.ground.colors import *
    from callboard.ground.folders import *
    from callboard.ground.held_folder import *
    from callboard.ground.lazy_names import *
    from callboard.ground.matrices import *
    from callboard.ground.named_files import *
    from callboard.ground.nearest_names import *
    from callboard.ground.orbit import *
    from callboard.ground.png import *
    from callboard.ground.suffixes import *
    from callboard.ground.unattended import *
    from callboard.ground.written_files import *
    from callboard.guest.thread_pause import *
    from callboard.guest.turn import *
    from callboard.host_kit.aim import *
    from callboard.host_kit.exchange_files import *
    from callboard.host_kit.face_direction import *
    from callboard.host_kit.light_values import *
    from callboard.host_kit.mesh_facts import *
    from callboard.host_kit.misread_paths import *
    from callboard.host_kit.script_code import *
    from callboard.host_kit.torus import *
    from callboard.host_kit.usd_depth import *
    from callboard.host_kit.usd_files import *
    from callboard.host_kit.usd_named import *
    from callboard.ports.animation import *
    from callboard.ports.attributes import *
    from callboard.ports.cameras import *
    from callboard.ports.capability_names import *
    from callboard.ports.check import *
    from callboard.ports.docs import *
    from callboard.ports.edit import *
    from callboard.ports.exchange import *
    from callboard.ports.file import *
    from callboard.ports.files import *
    from callboard.ports.geometry import *
    from callboard.ports.host import *
    from callboard.ports.lights import *
    from callboard.ports.look import *
    from callboard.ports.materials import *
    from callboard.ports.modelling import *
    from callboard.ports.network import *
    from callboard.ports.render import *
    from callboard.ports.scene import *
    from callboard.ports.script import *
    from callboard.ports.structure import *
    from callboard.ports.undo import *
    from callboard.ports.usd import *
    from callboard.ports.viewport import *
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__, _HOMES)
