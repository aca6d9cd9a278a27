"""The ``materials`` port: surfaces, and their assignment to objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint

#: The slots that a texture can drive. All but ``normal`` are also values of a material.
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
#: The meaning of a texture's numbers: colors for a screen, or plain numbers.
ColorSpace = Literal["srgb", "raw"]


class MaterialNotFound(HostError, LookupError):
    """Raised when no material has that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no material named '{name}'{hint}. List them with materials__list.")
        self.name = name
        self.nearest = list(nearest)


@dataclass(frozen=True)
class Texture:
    """A picture for one slot. ``uv_scale`` is the number of repeats along U and V. ``channel``, one
    of ``r g b a`` or None, is the channel from which a single number is read."""

    path: str
    color_space: ColorSpace
    uv_scale: tuple[float, float] = (1.0, 1.0)
    channel: str | None = None


class MaterialsPort(Protocol):
    """Capability ``materials``: surfaces in the terms of OpenPBR, 0 to 1 unless stated otherwise. A
    material is named like an object: by its bare name if that is unique, or by its path. Its values
    are

    ``color, metalness, roughness``; ``specular``, where 1 means exactly ``ior``; ``ior``;
    ``transmission``; ``emission``, a color, times ``emission_strength``, 0 and up; ``opacity``.
    """

    def names(self) -> Mapping[str, str]:
        """Return the bare names of all materials, by path."""

    def get(self, name: str) -> Json:
        """Return ``{name, path, type, textures}`` and the values. ``type`` is the host's word for
        the shader. A value is None when it is controlled by something other than a number.
        ``textures`` has ``{path, color_space, uv_scale, channel}`` by slot; ``path`` is None for
        anything but a picture. ``doubt`` is as in ``SceneReader``. Raises MaterialNotFound or
        AmbiguousName."""

    def users(self) -> Mapping[str, Sequence[str]]:
        """Return the paths of the objects that each material is assigned to, even if only on some
        faces, by the material's path. A material without objects may be absent."""

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        """Return the materials of one object by path, with the faces that each is on, or None for
        all faces."""

    def create(self, name: str | None) -> str:
        """Make a material; return its path. A taken name gets the host's own suffix."""

    def fork(self, name: str, objects: Sequence[str]) -> str:
        """Copy the material, and replace the original with the copy on these objects only. Return
        the copy's path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Set the given values for every object that has the material. A texture in a slot whose
        value is given is removed. Raises HostError when the host doesn't have an equivalent for a
        value."""

    def set_texture(self, name: str, slot: TextureSlot, texture: Texture | None) -> str:
        """Make the picture drive the slot. None removes the slot's picture."""

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        """Replace the objects' material, or, for a single object, only the material of these faces.
        Other objects keep their materials, even if they share the shape. Return the objects'
        paths."""
