"""A camera's frustum, as documented in Maya's help under "Film Gate and Resolution Gate"."""

from __future__ import annotations

_INCH = 25.4
_FILL, _HORIZONTAL, _VERTICAL = range(3)


def frustum(lens, aspect):
    """Return left, right, bottom and top on the near clip plane, for a picture ``aspect`` times as
    wide as high."""
    if lens["orthographic"]:
        wide = lens["orthographicWidth"] / 2
        return [-wide, wide, -wide / aspect, wide / aspect]
    wide, high = (lens[f"{side}FilmAperture"] * _INCH for side in ("horizontal", "vertical"))
    fit = lens["filmFit"]
    wider_film = wide / high >= aspect
    across = fit == _HORIZONTAL or (fit != _VERTICAL and wider_film != (fit == _FILL))
    if across:
        high = wide / aspect
    else:
        wide = high * aspect
    scale = lens["nearClipPlane"] / lens["focalLength"] / 2
    return [-wide * scale, wide * scale, -high * scale, high * scale]
