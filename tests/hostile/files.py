"""Malicious scene files. The check must find the paths that they name, or refuse the file. No file
may crash the process."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.host_kit.usd_depth import check_usd_nesting
from callboard.workspace.containment import WorkspaceRoots
from callboard_blender.application.blend_named import refuse_blend_outside
from hostile.making import spoiled_bytes
from needed import missing

STAGE = b"""#usda 1.0
(
    defaultPrim = "a"
    subLayers = [@%s@]
)
def Xform "a" (
    references = @%s@</S>
    prepend variantSets = "v"
)
{
    asset t = @%s@
    variantSet "v" = {
        "x" {
        }
        "y" (
            payload = @%s@
        ) {
        }
    }
}
"""
PLACES = (
    *(b"./in.usda", b"in.usda", b"../out/s.usda", b"link/s.usda", b"deep/../in.usda", b"", b"/x"),
    *(b"./deep/../../out/s.usda", b"in.usda:SDF_FORMAT_ARGS:a=b", b"p.usdz[s.usda]", b"//x/y.usda"),
    *(b"`${X}`", b"anon:x", b"./nowhere.usda", b"./b.usda", b"http://x/y.usda", b"x\\..\\..\\out"),
)


def check(random: Random, folder: Path) -> Iterator[str]:
    before = may_use.set(may_use.get())
    try:
        yield from _cases(random, folder)
    finally:
        may_use.reset(before)  # The next user of this thread has no roots.


def _cases(random: Random, folder: Path) -> Iterator[str]:
    root, out = folder / "root", folder / "out"
    for each in (root / "deep", out):
        each.mkdir(parents=True)
    (root / "link").symlink_to(out)
    (out / "s.usda").write_text('#usda 1.0\ndef Xform "S" {}\n', encoding="utf-8")
    (root / "in.usda").write_text('#usda 1.0\ndef Xform "S" {}\n', encoding="utf-8")
    (root / "b.usda").write_text("#usda 1.0\n(\n subLayers = [@./in.usda@]\n)\n", encoding="utf-8")
    roots = WorkspaceRoots([str(root)], policy="strict")
    may_use.set(partial(_inside, roots))
    usd = _usd() if missing("pxr") is None else None
    stage, blend = root / "a.usda", root / "a.blend"
    good = blend_file([b"//in.blend", str(out).encode() + b"/s.blend"])
    for number in range(10**9):
        if number % 2:
            bad = spoiled_bytes(random, good)
            yield repr(bad)
            blend.write_bytes(bad)
            with suppress(HostError):
                refuse_blend_outside(str(blend), [], tuple)
            continue
        bad = STAGE % tuple(random.choice(PLACES) for _ in range(4))
        if random.random() < 0.5:
            bad = spoiled_bytes(random, bad)
        yield repr(bad)
        stage.write_bytes(bad)
        with suppress(HostError):
            check_usd_nesting(str(stage))
            if usd is not None and number % 8 == 0:
                _composed(usd, str(stage), os.path.realpath(root))


def _inside(roots: WorkspaceRoots, path: str, write: bool) -> bool:
    return roots.contains(path)


def _usd() -> Any:
    import pxr.Ar
    import pxr.Sdf
    import pxr.Tf
    import pxr.Usd
    import pxr.UsdUtils

    return pxr


def _composed(usd: Any, path: str, inside: str) -> None:
    """Check that an accepted file names no file outside the root, and so uses none."""
    from callboard.host_kit.usd_named import refuse_usd_outside

    refuse_usd_outside(path, usd.Ar, usd.Sdf, usd.Tf, usd.Usd, usd.UsdUtils)
    with suppress(usd.Tf.ErrorException):
        known = usd.Sdf.Layer.Find(path)
        if known is not None:
            known.Reload(True)
        stage = usd.Usd.Stage.Open(path)
        for layer in stage.GetUsedLayers() if stage else ():
            real = os.path.realpath(layer.realPath) if layer.realPath else inside
            assert real.startswith(inside), layer.identifier


def blend_file(libraries: list[bytes]) -> bytes:
    """Return a minimal .blend file: libraries, and their layout."""

    def strings(code: bytes, each: list[bytes]) -> bytes:
        data = code + struct.pack("<i", len(each)) + b"".join(one + b"\0" for one in each)
        return data + b"\0" * (-len(data) % 4)

    # struct ID {char name[66]}; struct Library {ID id; char name[1024]; PackedFile *packedfile}
    names = strings(b"NAME", [b"name[66]", b"id", b"name[1024]", b"*packedfile"])
    types = strings(b"TYPE", [b"char", b"ID", b"Library", b"PackedFile"])
    sizes = b"TLEN" + struct.pack("<4H", 1, 66, 1098, 0)
    kinds = b"STRC" + struct.pack("<i", 2) + struct.pack("<4H", 1, 1, 0, 0)
    kinds += struct.pack("<8H", 2, 3, 1, 1, 0, 2, 3, 3)
    dna = b"SDNA" + names + types + sizes + kinds
    whole = b"BLENDER-v405"
    for number, library in enumerate(libraries):
        content = b"LI".ljust(66, b"\0") + library.ljust(1024, b"\0") + b"\0" * 8
        whole += struct.pack("<4siQii", b"LI\0\0", len(content), 16 + number, 1, 1) + content
    whole += struct.pack("<4siQii", b"DNA1", len(dna), 8, 0, 1) + dna
    return whole + struct.pack("<4siQii", b"ENDB", 0, 0, 0, 0)
