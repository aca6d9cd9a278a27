"""Figures about a picture, which show whether there is anything in it."""

from __future__ import annotations

from collections import Counter

from callboard.content import Json
from callboard.ground.png import Picture, alpha_of, decode

#: Channels of 8 bits within this distance are considered equal.
NEAR = 3


def figures(data: bytes) -> Json:
    """Return the figures of a PNG file. ``alpha`` is the mean of the alpha channel, or None for a
    file without one."""
    alpha = alpha_of(data)
    mean = None if alpha is None else round(sum(alpha) / len(alpha), 1)
    return {**figures_of(decode(data)), "alpha": mean}


def figures_of(picture: Picture) -> Json:
    """Return ``{width, height, mean, commonest, share}``: the mean of each channel, the commonest
    color, and its share of the pixels."""
    rgb, pixels = picture.rgb, picture.width * picture.height
    colors = Counter(zip(rgb[0::3], rgb[1::3], rgb[2::3], strict=True))
    color, count = colors.most_common(1)[0]
    return {
        "width": picture.width,
        "height": picture.height,
        "mean": [round(sum(rgb[channel::3]) / pixels, 1) for channel in range(3)],
        "commonest": "#{:02x}{:02x}{:02x}".format(*color),
        "share": round(count / pixels, 3),
    }


def why_blank(of: Json) -> str | None:
    """Return a sentence that explains why the picture seems to be empty, or None."""
    if of.get("alpha") == 0:
        return "it is transparent all over"
    if of["share"] == 1:
        return f"every pixel has the color {of['commonest']}"
    return None


def why_not_gray(of: Json) -> str | None:
    """Return why the picture can't show the gray surroundings, or None."""
    low, high = min(of["mean"]), max(of["mean"])
    if of.get("alpha") == 0:
        return "it is transparent all over"
    if high <= NEAR:
        return "it is black"
    if low >= 255 - NEAR:
        return "it is white"
    return "it is not gray" if high - low > 4 * NEAR else None
