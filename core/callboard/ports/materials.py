"""The port ``materials``: surfaces, and the objects that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint

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
#: The meaning of a texture's numbers: colours for a screen, or plain numbers.
ColorSpace = Literal["srgb", "raw"]


class MaterialNotFound(HostError, LookupError):
    """No material of that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no material named '{name}'{hint}. List them with materials__list.")
        self.name = name
        self.nearest = list(nearest)


@dataclass(frozen=True)
class Texture:
    """A picture for one slot. ``uv_scale`` is the number of repeats along U and V; ``channel``, one
    of ``r g b a`` or None, is the part of the picture that a single number is read from."""

    path: str
    color_space: ColorSpace
    uv_scale: tuple[float, float] = (1.0, 1.0)
    channel: str | None = None


class MaterialsPort(Protocol):
    """Capability ``materials``: surfaces in the words of OpenPBR, 0 to 1 where nothing else is
    said. A material is named like an object: by its bare name where that is unique, or by its
    path. Its values are

    ``color, metalness, roughness``; ``specular``, 1 being what ``ior`` says; ``ior``;
    ``transmission``; ``emission``, a colour, times ``emission_strength``, 0 and up; ``opacity``."""

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
        """Sets the values that are given, for every object that has the material. A texture in such
        a slot is removed. Raises HostError where the host has nothing like one of them."""

    def set_texture(self, name: str, slot: TextureSlot, texture: Texture | None) -> str:
        """Lets the picture, or nothing, drive the slot."""

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        """Gives the objects the material in place of theirs, or, of one object, only those faces.
        Other objects that share the shape keep theirs. The objects' paths."""
