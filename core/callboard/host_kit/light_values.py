"""The values of each kind of light, and their defaults, which are the same in every host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi

from callboard.errors import HostError

#: The values that each kind has in addition to color, intensity and exposure.
OWN: dict[str, tuple[str, ...]] = {
    "sun": ("power", "angle"),
    "point": ("power", "size"),
    "spot": ("power", "size", "angle", "blend"),
    "area": ("power", "size"),
    "dome": (),
}
#: Watts, or watts per square meter for a sun.
POWER = {"sun": 1.0, "point": 100.0, "spot": 100.0, "area": 100.0}
#: Meters.
SIZE = {"point": 0.2, "spot": 0.2, "area": 1.0}
#: The fraction of a light's power that is emitted along its axis, per steradian.
_ALONG = {"point": 1 / (4 * pi), "spot": 1 / (4 * pi), "area": 1 / pi}


def watts(kind: str, meters_per_unit: float) -> float:
    """Return the power, in watts, for one unit of intensity along the axis, in the scene's own
    units."""
    return meters_per_unit**2 / _ALONG[kind] if kind in _ALONG else 1.0


def known_values(kind: str) -> tuple[str, ...]:
    """Return the values that can be set on a light of that kind."""
    return ("color", "intensity", "exposure", *OWN.get(kind, ()))


def refuse_unknown(kind: str, values: Iterable[str], known: Sequence[str]) -> None:
    """Raise HostError for a value that a light of that kind doesn't have."""
    if unfit := [key for key in values if key not in known]:
        raise HostError(f"{kind} lights have no {', '.join(unfit)}; they have {', '.join(known)}")
