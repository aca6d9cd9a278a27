"""Pictures for tasks."""

from __future__ import annotations

from pathlib import Path

from callboard.ground.png import Picture, encode


def write_checkers(path: Path, one: bytes, other: bytes, size: int = 32) -> None:
    """Write a checkerboard of two by two squares in two colors, each given as three bytes."""
    half = size // 2
    rows = (one * half + other * half, other * half + one * half)
    path.write_bytes(encode(Picture(size, size, rows[0] * half + rows[1] * half)))


def write_sky(path: Path, width: int = 16, height: int = 8) -> None:
    """Write a blue sky, a quarter of which is bright, in Radiance's format: three bytes and an
    exponent for each pixel."""
    sky, sun = bytes((90, 120, 180, 128)), bytes((200, 190, 160, 132))
    row = sun * (width // 4) + sky * (width - width // 4)
    head = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n"
    path.write_bytes(head.encode() + row * height)
