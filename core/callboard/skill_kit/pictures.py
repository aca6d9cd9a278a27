"""Shrinks, tiles, compares and measures pictures for an agent. Use it from any thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import ceil, sqrt
from operator import sub

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.ground.png import Picture, encode

_GAP = 4
_GROUND = bytes((24, 24, 24))
#: The difference below which everything is noise, the factor by which the difference image is
#: brightened, and the largest difference within an empty area.
_NOISE, _BRIGHTER, _EVEN = 8, 4, 24
#: Maximum number of pixels that are sampled.
_SAMPLE = 40_000


def shrunk(picture: Picture, longest: int) -> Picture:
    """Return the picture, scaled down to at most ``longest`` pixels on its longer side. Each new
    pixel is the mean of those that it replaces."""
    by = ceil(max(picture.width, picture.height) / longest)
    if by <= 1:
        return picture
    width, height = max(1, picture.width // by), max(1, picture.height // by)
    across, down = min(by, picture.width), min(by, picture.height)
    lines = []
    for row in range(height):
        stride = picture.width * 3
        start = row * down * stride
        rows = [picture.rgb[start + n * stride : start + (n + 1) * stride] for n in range(down)]
        line = bytearray(width * 3)
        for channel in range(3):
            parts = [
                each[channel + 3 * n : 3 * width * across : 3 * across]
                for each in rows
                for n in range(across)
            ]
            line[channel::3] = bytes(
                total // len(parts) for total in map(sum, zip(*parts, strict=True))
            )
        lines.append(bytes(line))
    return Picture(width, height, b"".join(lines))


def sheet(pictures: Sequence[Picture], columns: int = 0) -> Picture:
    """Return the pictures combined into one, side by side from the top left. If ``columns`` is 0,
    there are about as many columns as rows."""
    if len(pictures) == 1:
        return pictures[0]
    columns = min(columns or ceil(sqrt(len(pictures))), len(pictures))
    wide, high = max(p.width for p in pictures), max(p.height for p in pictures)
    rows = []
    for start in range(0, len(pictures), columns):
        line = pictures[start : start + columns]
        rows += [_row(line, at, wide, columns) for at in range(high)]
        rows += [_GROUND * len(rows[-1][::3])] * _GAP
    rows = rows[:-_GAP]
    return Picture(len(rows[0]) // 3, len(rows), b"".join(rows))


def _row(pictures: Sequence[Picture], at: int, wide: int, columns: int) -> bytes:
    cells = []
    for picture in pictures:
        stride = picture.width * 3
        line = picture.rgb[at * stride : (at + 1) * stride]
        cells.append(line + _GROUND * (wide - len(line) // 3))
    cells += [_GROUND * wide] * (columns - len(pictures))
    return (_GROUND * _GAP).join(cells)


def difference(before: Picture, after: Picture) -> tuple[Picture, Json]:
    """Return the brightened difference, and ``{changed, box}``: the fraction of changed pixels, and
    ``[left, top, right, bottom]`` around them. Raises WrongArgument when the sizes differ."""
    if (before.width, before.height) != (after.width, after.height):
        raise WrongArgument(
            f"the earlier picture has {before.width} x {before.height} pixels; ask for that size"
        )
    brighter = bytes(min(255, step * _BRIGHTER) if step >= _NOISE else 0 for step in range(256))
    steps = bytes(map(abs, map(sub, before.rgb, after.rgb))).translate(brighter)
    changed = list(map(max, steps[0::3], steps[1::3], steps[2::3]))
    stride = after.width
    rows = [n for n in range(after.height) if any(changed[n * stride : (n + 1) * stride])]
    columns = [n for n in range(stride) if any(changed[n::stride])] if rows else []
    numbers: Json = {"changed": round(1 - changed.count(0) / len(changed), 4)}
    if rows:
        numbers["box"] = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
    return Picture(after.width, after.height, steps), numbers


def numbers_of(picture: Picture) -> Json:
    """Return fractions from 0 to 1: ``mean`` brightness, ``contrast`` (its standard deviation),
    ``empty`` (similar to most of the picture's border), ``dark`` and ``bright`` (clipped)."""
    pixels = _sampled(picture)
    lights = [(54 * r + 183 * g + 19 * b) / 65280 for r, g, b in pixels]
    mean = sum(lights) / len(lights)
    contrast = sqrt(sum((light - mean) ** 2 for light in lights) / len(lights))
    ground = _ground(picture)
    empty = sum(
        abs(r - ground[0]) + abs(g - ground[1]) + abs(b - ground[2]) < _EVEN for r, g, b in pixels
    )
    dark = sum(max(pixel) <= 1 for pixel in pixels)
    bright = sum(min(pixel) >= 254 for pixel in pixels)
    shares = {"empty": empty, "dark": dark, "bright": bright}
    return {
        "mean": round(mean, 4),
        "contrast": round(contrast, 4),
        **{name: round(count / len(pixels), 4) for name, count in shares.items()},
    }


def _sampled(picture: Picture) -> list[tuple[int, int, int]]:
    """Return every pixel, or every nth pixel, spread over all rows and columns."""
    count = picture.width * picture.height
    # A step that divides the width would sample only a few columns.
    step = max(1, count // _SAMPLE)
    while step > 1 and picture.width % step == 0:
        step += 1
    channels = [picture.rgb[channel :: 3 * step] for channel in range(3)]
    return list(zip(*channels, strict=True))


def _ground(picture: Picture) -> tuple[int, int, int]:
    """Return the most frequent color of the picture's border."""
    width, height, rgb = picture.width, picture.height, picture.rgb
    edge = chain(
        range(width),
        range((height - 1) * width, height * width),
        range(0, height * width, width),
        range(width - 1, height * width, width),
    )
    most = Counter(rgb[3 * at : 3 * at + 3] for at in edge).most_common(1)[0][0]
    return most[0], most[1], most[2]


def fitted(picture: Picture, max_bytes: int) -> tuple[Picture, bytes]:
    """Return the picture and its PNG file, shrunk until the file has at most ``max_bytes`` or the
    picture's longer side has at most 64 pixels."""
    data = encode(picture)
    while len(data) > max_bytes and max(picture.width, picture.height) > 64:
        picture = shrunk(picture, max(picture.width, picture.height) // 2)
        data = encode(picture)
    return picture, data
