"""The ports behind what a picture shows besides shapes. The conventions are the host contract's:
main thread, scene units, degrees; colours are linear ``[r, g, b]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint
from callboard.ports.capability_names import CAMERAS as CAMERAS
from callboard.ports.capability_names import LIGHTS as LIGHTS
from callboard.ports.capability_names import MATERIALS as MATERIALS

#: What a texture can drive. All but ``normal`` are values of a material as well.
TextureSlot = Literal[
    "color",
    "metalness",
    "roughness",
    "specular",
    "transmission",
    "emission",
    "opacity",
    "normal",
]
#: How a texture's numbers are meant: as colours for a screen, or as they are.
ColorSpace = Literal["srgb", "raw"]
LightKind = Literal["sun", "point", "spot", "area", "dome"]


class MaterialNotFound(HostError, LookupError):
    """No material of that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no material named '{name}'{hint}. List them with materials__list.")
        self.name = name
        self.nearest = list(nearest)


@dataclass(frozen=True)
class Texture:
    """A picture for one slot. ``uv_scale`` says how often it repeats along U and V; ``channel``,
    one of ``r g b a`` or None, which part of it a single number is read from."""

    path: str
    color_space: ColorSpace
    uv_scale: tuple[float, float] = (1.0, 1.0)
    channel: str | None = None


class MaterialsPort(Protocol):
    """Capability ``materials``: surfaces in the words of OpenPBR, 0 to 1 where nothing else is
    said. A material is named like an object: by its bare name where that is unique, or by its
    path. Its values are

    ``color, metalness, roughness``; ``specular``, 1 being what ``ior`` says; ``ior``;
    ``transmission``; ``emission``, a colour, times ``emission_strength``, 0 and up; ``opacity``.

    Errors raise before anything changes where that can be known."""

    def names(self) -> Mapping[str, str]:
        """Every material's bare name by its path."""

    def get(self, name: str) -> Json:
        """``{name, path, type, textures}`` and the values. ``type`` is the host's word for the
        shader. A value is None where something else than a number decides it. ``textures`` has
        ``{path, color_space, uv_scale, channel}`` by slot; ``path`` is None where it isn't a
        picture. ``doubt`` as in ``SceneReader``. Raises MaterialNotFound or AmbiguousName."""

    def users(self) -> Mapping[str, Sequence[str]]:
        """The objects that each material is assigned to, by the paths of both; those that have one
        on some of their faces too. A material that nothing has may be absent."""

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        """The materials of one object, by path: the faces that have it, None for all of them."""

    def create(self, name: str | None) -> str:
        """A new material, by its path. A taken name gets the host's own suffix."""

    def fork(self, name: str, objects: Sequence[str]) -> str:
        """A copy, in place of the material on these objects only. Its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Sets the values that are given, for all who have the material; a texture in such a slot
        goes. Raises HostError where the host has nothing like one of them."""

    def set_texture(self, name: str, slot: TextureSlot, texture: Texture | None) -> str:
        """Lets the picture, or nothing, drive the slot."""

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        """Gives the objects the material in place of theirs, or, of one object, only those faces.
        Nobody else's changes, though they share the shape. The objects' paths."""


class LightsPort(Protocol):
    """Capability ``lights``. Lights are objects of the scene, and shine along their own -Z. Their
    values are

    ``color``; ``power``, watts of a point, spot or area, watts per square metre of a sun, as the
    radiation that leaves or arrives; ``intensity``, the host's own number for the same;
    ``exposure``, stops on top; ``size``, ``[width, height]`` of an area, the diameter twice of a
    point or spot; ``angle``, degrees, a sun's diameter or a spot's whole cone; ``blend``, the soft
    part of a spot's cone, 0 to 1. What a kind doesn't have is None, and an error to set."""

    def names(self) -> Mapping[str, str]:
        """Every light's bare name by its path."""

    def get(self, name: str) -> Json:
        """``{name, path, kind}`` and the values. ``kind`` is one of ours, else the host's word.
        ``doubt`` as in ``SceneReader``. Raises ObjectNotFound, AmbiguousName, and HostError where
        the object is no light."""

    def create(self, kind: LightKind, name: str | None) -> str:
        """A new light at the origin, by its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Sets the values that are given, for this object alone."""

    def environment(self) -> Json:
        """What surrounds the scene: ``{kind, path, color, strength, rotate, sun_elevation}``.
        ``kind`` is image, color, sky, none or other; ``rotate`` is degrees about the up axis."""

    def set_environment(self, values: Mapping[str, object]) -> None:
        """Sets those of ``path, color, sun_elevation, strength, rotate`` that are given; one of the
        first three at most. An environment of the artist's own stays in the file."""


class CamerasPort(Protocol):
    """Capability ``cameras``. Cameras are objects of the scene, and look along their own -Z. Their
    values are

    ``lens`` and ``sensor``, its width, in millimetres; ``clip``, ``[near, far]``, and
    ``focus_distance`` in scene units; ``fstop``, 0 where everything is sharp; ``active``, whether
    pictures are taken with it."""

    def names(self) -> Mapping[str, str]:
        """Every camera's bare name by its path."""

    def get(self, name: str) -> Json:
        """``{name, path, projection, fov}`` and the values. ``projection`` is perspective,
        orthographic or the host's word; ``fov`` ``[horizontal, vertical]`` of the picture, degrees,
        None where it isn't perspective. ``doubt`` as in ``SceneReader``. Raises ObjectNotFound,
        AmbiguousName, and HostError where the object is no camera."""

    def create(self, name: str | None) -> str:
        """A new camera at the origin, by its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Sets the values that are given, for this object alone."""
