"""Checks pictures that the application's views draw. A view in a window that is hidden or
minimized may draw only black."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from callboard.errors import HostError
from callboard.host import Json, Picture, Point, decode, encode

#: The position of a PNG file's color type, and the values of the types with alpha.
_COLOR_TYPE, _WITH_ALPHA = 25, (4, 6)
#: The PNG file of a one-color picture has at most ``_LEAST`` bytes, plus one for every ``_EVEN``
#: pixels. A larger file isn't decoded, because that takes time.
_LEAST, _EVEN = 1000, 100

Boxes = Iterable[tuple[Point, Point]]


def is_one_color(picture: Picture) -> bool:
    return picture.rgb == picture.rgb[:3] * (len(picture.rgb) // 3)


def is_black(picture: Picture) -> bool:
    """Return whether every pixel is black, as it is in a picture that was entirely transparent."""
    return not any(picture.rgb)


def seen(data: bytes, boxes: Boxes) -> bytes:
    """Return a view's picture without alpha. Raises HostError when it is black although the scene
    has something visible."""
    with_alpha = data[_COLOR_TYPE] in _WITH_ALPHA
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    if not with_alpha and len(data) > _LEAST + width * height // _EVEN:
        return data
    try:
        picture = decode(data)
    except ValueError:  # The picture is too large to be read here.
        return data
    if is_black(picture) and any(True for _ in boxes):
        raise HostError(
            "the view's picture is black all over: its window may be hidden or minimized; ask the"
            " artist to show it, or use viewport__look with shading 'rendered'"
        )
    return encode(picture) if with_alpha else data


def seen_or_rendered(
    picture: Picture, boxes: Boxes, render: Callable[[], tuple[Picture, Json]]
) -> tuple[Picture, Json]:
    """Return a view's picture and facts about it. If the picture is black although something in the
    scene is visible, return the renderer's picture instead."""
    if not is_one_color(picture) or not any(True for _ in boxes):
        return picture, {}
    if not is_black(picture):
        return picture, {"doubt": "the picture is of one color: nothing of the scene is in sight"}
    why = "the view drew only black, as hidden and minimized windows do"
    try:
        rendered, facts = render()
    except HostError as error:
        return picture, {"doubt": f"{why}, and the renderer can't replace it: {error}"}
    return rendered, {**facts, "doubt": f"{why}, so this picture is rendered"}
