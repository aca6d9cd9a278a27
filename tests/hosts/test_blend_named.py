"""The blocks of a .blend file are read by their type, however they are labelled."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.workspace.containment import WorkspaceRoots
from callboard_blender.application.blend_named import refuse_blend_outside
from hostile.files import blend_file


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "root"
    root.mkdir()

    def inside(roots: WorkspaceRoots, path: str, write: bool) -> bool:
        return roots.contains(path)

    token = may_use.set(partial(inside, WorkspaceRoots([str(root)], policy="strict")))
    yield root
    may_use.reset(token)


def _relabelled(whole: bytes, code: bytes, structure: int, name: bytes) -> bytes:
    """Return the file with its first block, a library, labelled differently."""
    at = whole.index(b"LI\0\0")
    _, length, address, _, count = struct.unpack_from("<4siQii", whole, at)
    head = struct.pack("<4siQii", code, length, address, structure, count)
    return whole[:at] + head + name + whole[at + len(head) + len(name) :]


def test_a_library_inside_is_fine_and_one_outside_is_told(root: Path, tmp_path: Path) -> None:
    (root / "a.blend").write_bytes(blend_file([b"//in.blend"]))
    refuse_blend_outside(str(root / "a.blend"), [])
    (root / "b.blend").write_bytes(blend_file([str(tmp_path / "out.blend").encode()]))
    with pytest.raises(HostError, match="outside of the workspace"):
        refuse_blend_outside(str(root / "b.blend"), [])


@pytest.mark.parametrize(
    ("code", "structure", "name"),
    [
        (b"LI\0\0", 0, b"LI"),  # the structure of a datablock's head
        (b"IM\0\0", 0, b"IM"),
        (b"IM\0\0", 1, b"IM"),  # an image, labelled as a library
        (b"TX\0\0", 1, b"LI"),
        (b"ZZ\0\0", 1, b"LI"),  # an unknown kind, with the name of a library
        (b"LI\0\0", 1, b"IM"),
    ],
)
def test_a_datablock_that_is_labelled_as_another_is_refused(
    root: Path, code: bytes, structure: int, name: bytes
) -> None:
    path = root / "a.blend"
    path.write_bytes(_relabelled(blend_file([b"//in.blend"]), code, structure, name))
    with pytest.raises(HostError, match="can't be looked into"):
        refuse_blend_outside(str(path), [])
