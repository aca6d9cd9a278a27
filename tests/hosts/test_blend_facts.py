"""A .blend file on disk is described from its blocks, whatever machine wrote it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from callboard_blender.application.blend_facts import BlendFacts

#: Structures of the file with their members: a type and a declaration.
LAYOUT: dict[str, list[tuple[str, str]]] = {
    "ID": [("char", "name[24]")],
    "Library": [("ID", "id"), ("char", "name[240]"), ("char", "filepath[240]")],
    "Text": [("ID", "id"), ("char", "*name")],
    "Object": [("ID", "id"), ("short", "type"), ("char", "pad[6]")],
    "LibraryWeakReference": [("char", "library_filepath[1024]")],
}


def _file(order: str, pointer: int) -> bytes:
    """Return a file as written by a machine of that kind: a library, a text with a file, a mesh
    object, and an object that was appended from a file."""
    types = ["char", "short", *LAYOUT]
    names = sorted({name for members in LAYOUT.values() for _, name in members})
    sizes = {"char": 1, "short": 2}
    for kind, members in LAYOUT.items():
        sizes[kind] = sum(_size(sizes[of], name, pointer) for of, name in members)

    def number(form: str, *values: int) -> bytes:
        return struct.pack(f"{order}{form}", *values)

    def strings(code: bytes, listed: list[str]) -> bytes:
        block = code + number("i", len(listed)) + b"".join(f"{s}\0".encode() for s in listed)
        return block + b"\0" * (-len(block) % 4)

    dna = b"SDNA" + strings(b"NAME", names) + strings(b"TYPE", types)
    lengths = b"TLEN" + number(f"{len(types)}H", *(sizes[each] for each in types))
    dna += lengths + b"\0" * (-len(lengths) % 4) + b"STRC" + number("i", len(LAYOUT))
    for kind, members in LAYOUT.items():
        dna += number("2H", types.index(kind), len(members))
        for of, name in members:
            dna += number("2H", types.index(of), names.index(name))

    def block(code: bytes, structure: str, content: bytes, address: int = 1) -> bytes:
        index = [*LAYOUT].index(structure) if structure else 0
        if order == ">" and code.endswith(b"\0\0"):
            code = b"\0\0" + code[:2]
        form = f"4si{'Q' if pointer == 8 else 'I'}ii"
        return struct.pack(f"{order}{form}", code, len(content), address, index, 1) + content

    def named(text: bytes, room: int) -> bytes:
        return text.ljust(room, b"\0")

    at = number("Q" if pointer == 8 else "I", 77)
    library = (
        named(b"LILib", 24) + named(b"//chairs.blend", 240) + named(b"C:\\old\\chairs.blend", 240)
    )
    start = f"BLENDER{'-' if pointer == 8 else '_'}{'v' if order == '<' else 'V'}248"
    blocks = (
        block(b"LI\0\0", "Library", library),
        block(b"TX\0\0", "Text", named(b"TXNotes", 24) + at),
        block(b"DATA", "", b"//notes.txt\0", 77),
        block(b"DATA", "", b"//not the path\0", 78),
        block(b"OB\0\0", "Object", named(b"OBCrate", 24) + number("h", 1) + bytes(6)),
        block(b"DATA", "LibraryWeakReference", named(b"//origin.blend", 1024), 79),
        block(b"DNA1", "", dna),
        block(b"ENDB", "", b""),
    )
    return start.encode() + b"".join(blocks)


def _size(of: int, name: str, pointer: int) -> int:
    count = int(name.split("[")[1].rstrip("]")) if "[" in name else 1
    return count * (pointer if name.startswith("*") else of)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("pointer", [4, 8])
def test_a_file_of_any_machine_is_described(tmp_path: Path, order: str, pointer: int) -> None:
    file = tmp_path / "old.blend"
    file.write_bytes(_file(order, pointer))
    facts = BlendFacts(str(file))
    assert dict(facts.counts) == {"libraries": 1, "texts": 1, "objects": 1}
    assert dict(facts.types) == {"mesh": 1}
    assert facts.named == [
        ("library", "//chairs.blend", "Lib", False),
        ("file", "//notes.txt", "Notes", False),
        ("file", "//origin.blend", "", False),
    ]
