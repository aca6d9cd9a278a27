"""Pictures for agents are read, made smaller, put side by side, compared and measured."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.ground.png import NotAPicture, Picture, decode, encode, picture_format
from callboard.skill_kit.pictures import difference, fitted, numbers_of, sheet, shrunk

RED, BLUE, BLACK, WHITE = b"\xc8\0\0", b"\0\0\xc8", b"\0\0\0", b"\xff\xff\xff"


def flat(width: int, height: int, color: bytes = RED) -> Picture:
    return Picture(width, height, color * (width * height))


def with_square(color: bytes = WHITE) -> Picture:
    """Return an 80 by 40 picture: a square of 10 by 10 pixels at (20, 10), on a red background."""
    row, marked = RED * 80, RED * 20 + color * 10 + RED * 50
    return Picture(80, 40, row * 10 + marked * 10 + row * 20)


def filtered(picture: Picture, kind: int, depth: int = 8, alpha: bool = False) -> bytes:
    """Return a PNG file with filtered rows, as other programs write it. The filters follow the
    specification's text."""
    pixel = (4 if alpha else 3) * depth // 8
    stride = picture.width * pixel
    data = bytearray()
    for at in range(0, len(picture.rgb), 3):
        samples = [*picture.rgb[at : at + 3], *([128] if alpha else [])]
        data += b"".join(bytes([each, 7][: depth // 8]) for each in samples)
    rows = bytearray()
    above = bytes(stride)
    for start in range(0, len(data), stride):
        line = bytes(data[start : start + stride])
        rows.append(kind)
        for at, value in enumerate(line):
            a = line[at - pixel] if at >= pixel else 0
            b, c = above[at], above[at - pixel] if at >= pixel else 0
            near = min((a, b, c), key=lambda each: abs(a + b - c - each))
            guess = (0, a, b, (a + b) // 2, near)[kind]
            rows.append((value - guess) % 256)
        above = line
    header = struct.pack(
        ">IIBBBBB", picture.width, picture.height, depth, 6 if alpha else 2, 0, 0, 0
    )
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


@given(width=st.integers(1, 9), height=st.integers(1, 9), data=st.data())
def test_what_is_written_is_read_back(width: int, height: int, data: st.DataObject) -> None:
    size = width * height * 3
    rgb = data.draw(st.binary(min_size=size, max_size=size))
    picture = Picture(width, height, rgb)
    assert decode(encode(picture)) == picture
    for kind in range(5):
        assert decode(filtered(picture, kind)) == picture
    assert decode(filtered(picture, 4, depth=16, alpha=True)) == picture


@given(st.binary(max_size=200), st.integers(0, 80))
def test_what_is_broken_is_refused(noise: bytes, at: int) -> None:
    whole = encode(with_square())
    for broken in (noise, whole[:at], whole[:at] + noise + whole[at + 8 :]):
        try:
            decode(broken)
        except NotAPicture:
            continue


def test_a_picture_that_would_fill_memory_is_refused() -> None:
    whole = bytearray(encode(flat(2, 2)))
    whole[16:24] = struct.pack(">II", 60_000, 60_000)
    with pytest.raises(NotAPicture, match="too many"):
        decode(bytes(whole))


def test_sizes_are_read_of_png_and_jpeg() -> None:
    head = b"\xff\xd8\xff\xe0\0\4\1\2\xff\xc2\0\x11\x08" + struct.pack(">HH", 480, 640)
    assert picture_format(head + b"\3") == ("image/jpeg", 640, 480)
    assert picture_format(encode(flat(5, 7))) == ("image/png", 5, 7)
    assert picture_format(head[:8])[0] == ""
    assert picture_format(b"GIF89a")[0] == ""


def test_a_smaller_picture_has_the_mean_of_what_it_stands_for() -> None:
    stripes = Picture(4, 2, (BLACK + WHITE) * 4)
    assert shrunk(stripes, 2) == Picture(2, 1, bytes([127] * 6))
    assert shrunk(stripes, 4) == stripes
    assert shrunk(flat(300, 100), 128) == flat(100, 33)


def test_pictures_stand_side_by_side() -> None:
    whole = sheet([flat(10, 6, RED), flat(10, 6, BLUE), flat(10, 6, WHITE)])
    assert (whole.width, whole.height) == (24, 16)
    at = [whole.rgb[3 * (y * 24 + x) :][:3] for x, y in ((1, 1), (15, 1), (1, 11))]
    assert at == [RED, BLUE, WHITE]


def test_a_difference_says_where_and_how_much() -> None:
    picture, told = difference(flat(80, 40), with_square())
    assert told == {"changed": round(100 / 3200, 4), "box": [20, 10, 30, 20]}
    assert picture.rgb[:3] == BLACK
    assert difference(flat(80, 40), flat(80, 40))[1] == {"changed": 0.0}
    with pytest.raises(ValueError, match="80 x 40"):
        difference(flat(80, 40), flat(40, 40))


def test_numbers_tell_what_a_picture_is_like() -> None:
    told = numbers_of(with_square())
    assert told["empty"] == pytest.approx(1 - 100 / 3200, abs=0.01)
    assert told["bright"] == pytest.approx(100 / 3200, abs=0.01)
    assert told["dark"] == 0
    black = numbers_of(flat(300, 300, BLACK))
    assert black == {"mean": 0.0, "contrast": 0.0, "empty": 1.0, "dark": 1.0, "bright": 0.0}
    half = numbers_of(sheet([flat(99, 50, BLACK), flat(99, 50, WHITE)]))
    assert half["mean"] == pytest.approx(0.5, abs=0.03)
    assert half["contrast"] == pytest.approx(0.5, abs=0.03)


def test_a_picture_is_made_to_fit() -> None:
    import random

    noise = Picture(256, 128, random.Random(1).randbytes(256 * 128 * 3))
    small, data = fitted(noise, 30_000)
    assert len(data) <= 30_000 < len(encode(noise))
    assert decode(data) == small
