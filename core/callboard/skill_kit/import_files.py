"""Imports files of other programs through the ``exchange`` port, and checks the result. For bundled
skills, on the main thread. Paths must be absolute, and already checked against the roots. Raises
HostError."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.host_kit.exchange_files import check_file
from callboard.ports.exchange import UNSTATED, WITH_UVS, Axes, FileFormat, format_of

#: Maximum number of names that an answer lists: of new objects, and of those without UVs. Counts
#: are complete.
LISTED, SHOWN = 200, 50


def import_checked(
    port: Any,
    scene_reader: Any,
    path: str,
    parent: str | None = None,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> Json:
    """Add the file to the scene, below ``parent`` if given. Return the answer of
    ``exchange__import``."""
    kind = format_of(path, port.formats(), write=False)
    axes = asked_axes(kind, meters_per_unit, up_axis)
    above = None if parent is None else scene_reader.get(parent)["path"]
    if kind.name != "usd":  # The ``usd`` port has a stricter check.
        check_file(path)
    before = set(scene_reader.names())
    counted = port.import_file(path, above, axes)
    created = [each for each in scene_reader.names() if each not in before]
    if not created:
        raise HostError(f"'{Path(path).name}' contains no objects; nothing was imported")
    entries = [scene_reader.get(each) for each in created[:LISTED]]
    if above is not None and not any(scene_reader.get(each)["parent"] == above for each in created):
        raise HostError(f"none of the imported objects is below '{parent}'. The change was undone.")
    missing = list(port.without_uvs(created)) if kind.name in WITH_UVS else []
    doubt = next((each["doubt"] for each in entries if each.get("doubt")), None)
    return {
        "path": path,
        "format": kind.name,
        "changed": [],
        "created": created[:LISTED],
        "created_count": len(created),
        **axes_as_json(counted),
        **({} if counted.stated else {"assumed": True}),
        **({"without_uvs": missing[:SHOWN]} if missing else {}),
        "verified": doubt is None,
        **({} if doubt is None else {"doubt": doubt}),
    }


def asked_axes(kind: FileFormat, meters_per_unit: float | None, up_axis: str | None) -> Axes | None:
    """Return the axes for a file that doesn't state its own, or None for one that does. Raises
    WrongArgument when axes are given for a file that states its own."""
    if kind.name in UNSTATED:
        unit = kind.meters_per_unit if meters_per_unit is None else meters_per_unit
        return Axes(unit, up_axis or kind.up_axis, meters_per_unit is not None)
    if meters_per_unit is not None or up_axis is not None:
        raise WrongArgument(
            f"a {kind.name} file states its own units and up axis; leave meters_per_unit and "
            "up_axis out"
        )
    return None


def axes_as_json(axes: Axes) -> Json:
    return {"meters_per_unit": axes.meters_per_unit, "up_axis": axes.up_axis}
