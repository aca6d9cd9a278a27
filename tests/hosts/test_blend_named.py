"""The blocks of a .blend file are read by their type, whatever their labels are."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.workspace.containment import WorkspaceRoots
from callboard_blender.application.blend_layout import Member, Structure
from callboard_blender.application.blend_named import refuse_blend_outside
from hostile.files import blend_file
from needed import need


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
    refuse_blend_outside(str(root / "a.blend"), [], tuple)
    (root / "b.blend").write_bytes(blend_file([str(tmp_path / "out.blend").encode()]))
    with pytest.raises(HostError, match="outside of the workspace"):
        refuse_blend_outside(str(root / "b.blend"), [], tuple)


@pytest.mark.skipif(os.name == "nt", reason="Windows has drives")
@pytest.mark.parametrize("text", ["\\/out.blend", "C:{root}/in.blend", "c:\\{root}/in.blend"])
def test_only_two_slashes_stand_for_the_files_folder(root: Path, text: str) -> None:
    """A backslash and a slash begin an absolute path, and ``C:/out`` is ``/c/out``."""
    path = root / "a.blend"
    path.write_bytes(blend_file([text.format(root=root).encode()]))
    with pytest.raises(HostError, match="outside of the workspace"):
        refuse_blend_outside(str(path), [], tuple)


@pytest.mark.parametrize(
    ("code", "structure", "name"),
    [
        (b"", 9, b"LI"),
        (b"LI\0\0", 0, b"LI"),  # This is the structure of a datablock's head.
        (b"IM\0\0", 0, b"IM"),
        (b"IM\0\0", 1, b"IM"),  # This image is labelled as a library.
        (b"TX\0\0", 1, b"LI"),
        (b"ZZ\0\0", 1, b"LI"),  # This block has an unknown kind, and the name of a library.
        (b"LI\0\0", 1, b"IM"),
        (b"LIXX", 1, b"LI"),  # Blender treats any unknown code as a datablock's
        (b"LI\0\0", 9, b"LI"),
    ],
)
def test_a_datablock_that_is_labelled_as_another_is_refused(
    root: Path, code: bytes, structure: int, name: bytes
) -> None:
    path = root / "a.blend"
    path.write_bytes(_relabelled(blend_file([b"//in.blend"]), code, structure, name))
    with pytest.raises(HostError, match="can't be checked"):
        refuse_blend_outside(str(path), [], tuple)


def test_a_packed_file_is_read_and_a_damaged_one_is_refused(root: Path, tmp_path: Path) -> None:
    need("zstandard")
    import zstandard

    path = root / "a.blend"
    packed = zstandard.compress(blend_file([str(tmp_path / "out.blend").encode()]))
    path.write_bytes(packed)
    with pytest.raises(HostError, match="outside of the workspace"):
        refuse_blend_outside(str(path), [], tuple)
    path.write_bytes(packed[:20] + bytes(each ^ 0x55 for each in packed[20:]))
    with pytest.raises(HostError, match="can't be checked"):
        refuse_blend_outside(str(path), [], tuple)


def _with(whole: bytes, content: bytes, structure: int = 0) -> bytes:
    """Return the file with another block before its layout."""
    at = whole.index(b"DNA1")
    label = struct.pack("<4siQii", b"DATA", len(content), 99, structure, 1)
    return whole[:at] + label + content + whole[at:]


def _cache() -> tuple[Structure, ...]:
    """Return a structure of Blender's with a path at its fourth byte."""
    return (
        Structure("NodeShaderTexIES", 1028, (Member("filepath", "char", 4, 1024, 1024, False),)),
    )


def test_a_path_counts_in_a_block_with_another_label(root: Path, tmp_path: Path) -> None:
    (tmp_path / "out.ies").touch()
    path = root / "a.blend"
    texts = {b"//../out.ies": True, b"//../none.ies": False, b"//a.blend": False}
    if os.name != "nt":
        # Parts of Blender first replace the backslash with a slash.
        texts[b"\\//../out.ies"] = True
    for text, leaves in texts.items():
        content = b"\0" * 4 + text.ljust(1024, b"\0")
        path.write_bytes(_with(blend_file([b"//in.blend"]), content))
        if leaves:
            with pytest.raises(HostError, match="outside of the workspace"):
                refuse_blend_outside(str(path), [], _cache)
        else:
            refuse_blend_outside(str(path), [], _cache)


def test_a_path_that_the_layout_calls_something_else_is_refused(root: Path) -> None:
    def library() -> tuple[Structure, ...]:
        return (Structure("Library", 1024, (Member("name", "char", 0, 1024, 1024, False),)),)

    good = blend_file([b"//in.blend"])
    path = root / "a.blend"
    path.write_bytes(good)
    refuse_blend_outside(str(path), [], library)
    # The member's type is the structure ID, the second of the types.
    path.write_bytes(good.replace(struct.pack("<2H", 0, 2), struct.pack("<2H", 2, 2)))
    with pytest.raises(HostError, match="can't be checked"):
        refuse_blend_outside(str(path), [], library)


def test_a_packed_file_that_is_not_there_does_not_count(root: Path, tmp_path: Path) -> None:
    """Blender opens the path if the packed file is missing."""
    out = str(tmp_path / "out.blend").encode()
    good = blend_file([out])
    at = good.index(b"LI\0\0") + 24 + 66 + 1024
    path = root / "a.blend"
    path.write_bytes(_with(good[:at] + struct.pack("<Q", 99) + good[at + 8 :], b"\0" * 16))
    with pytest.raises(HostError, match="outside of the workspace"):
        refuse_blend_outside(str(path), [], tuple)
