"""Checkers against readers: a file that makes an application open anything outside the roots must
be refused.

    cd tests && python -m hostile.readers usdz --count 30000 --seed 1

Each number of a seed makes one file: names that lead out in every place and spelling, ambiguous
structures, labels that lie, spoiled bytes. The check looks at the file first. If the file passes,
OpenUSD or Blender opens it, and the system (inotify, so Linux) reports what was opened outside the
roots. A file that ends the process is counted, and the next process continues after it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from callboard.errors import HostError
from callboard.ground.named_files import may_use
from callboard.host_kit.usd_depth import check_usd_nesting
from callboard.workspace.containment import WorkspaceRoots
from hostile.archives import package_of
from hostile.blends import mutated, read_blend, samples
from hostile.making import spoiled_bytes

#: Seconds for one file. A file that takes longer ends its process.
PATIENCE = 60
#: Bytes of address space for each process. A file that asks for more ends its process.
_MEMORY = 2**32
HARMLESS = '#usda 1.0\ndef Xform "S"\n{\n double a = 1\n}\n'
BODIES = (
    "(\n subLayers = [@{0}@]\n)\n",
    'def "a" (\n references = @{0}@</S>\n)\n{{\n}}\n',
    'def "a" (\n prepend payload = @{0}@</S>\n)\n{{\n}}\n',
    'def "a" (\n prepend variantSets = "v"\n)\n{{\n variantSet "v" = {{\n "x" {{\n }}\n "y" (\n'
    " references = @{0}@</S>\n ) {{\n }}\n }}\n}}\n",
    'def "a" (\n clips = {{\n dictionary default = {{\n asset[] assetPaths = [@{0}@]\n'
    ' string primPath = "/S"\n double2[] active = [(0, 0)]\n double2[] times = [(0, 0)]\n }}\n }}\n'
    ")\n{{\n double a\n}}\n",
    'def "a" (\n clips = {{\n dictionary default = {{\n string templateAssetPath = "{0}"\n'
    ' string primPath = "/S"\n double templateStartTime = 1\n double templateEndTime = 2\n'
    " double templateStride = 1\n }}\n }}\n)\n{{\n double a\n}}\n",
    'def "a"\n{{\n asset t = @{0}@\n}}\n',
)
PLACES = (
    *("./in.usda", "in.usda", "x/in.usda", "../out/s.usda", "{out}/s.usda", "link/s.usda"),
    *(
        "./x/../../out/s.usda",
        "../out/p.usdz[s.usda]",
        "p.usdz",
        "p.usdz[b.usda]",
        "../out/s.##.usda",
    ),
    *("in.usda:SDF_FORMAT_ARGS:a=b", "../out/s.usda:SDF_FORMAT_ARGS:a=b", "//../out/s.usda"),
    *("file:{out}/s.usda", "../out/%73.usda", "leads.usda", "./leads.usdc", "", "anon:x"),
    *("x/leads.usda", "../../out/s.usda", "../../../out/s.usda", "in.usdz[../../out/s.usda]"),
)


class Opened:
    """The files that any process opens in a folder."""

    def __init__(self, folder: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._libc.inotify_add_watch(self._watch, os.fsencode(folder), 0x20) < 0:
            raise OSError(ctypes.get_errno(), "inotify can't watch the folder")

    def names(self) -> list[str]:
        """Return the names opened since the last call."""
        names = []
        with suppress(BlockingIOError):
            while told := os.read(self._watch, 65536):
                at = 0
                while at < len(told):
                    (size,) = struct.unpack_from("<I", told, at + 12)
                    if size:  # otherwise it is the folder itself, whose names were listed
                        names.append(os.fsdecode(told[at + 16 : at + 16 + size].rstrip(b"\0")))
                    at += 16 + size
        return names


class Place:
    """A root, and a folder outside of it with files that a reader would open."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed = seed
        self.root, self.out = folder / "root", folder / "out"
        for each in (self.root / "x", self.out):
            each.mkdir(parents=True, exist_ok=True)
        if not (self.root / "link").exists():
            (self.root / "link").symlink_to(self.out)
        self.samples: list[bytes] = []
        roots = WorkspaceRoots([str(self.root)], policy="strict")
        may_use.set(partial(_inside, roots))

    def stages(self) -> None:
        """Write the stages that the files name."""
        from pxr import Sdf

        for name in ("s.usda", "s.01.usda", "s.1.usda"):
            (self.out / name).write_text(HARMLESS, encoding="utf-8")
        for name in ("in.usda", "x/in.usda", "b.usda"):
            (self.root / name).write_text(HARMLESS, encoding="utf-8")
        leads = "#usda 1.0\n" + BODIES[0].format(self.out / "s.usda")
        for name in ("leads.usda", "x/leads.usda"):
            (self.root / name).write_text(leads, encoding="utf-8")
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.ImportFromString(leads)
        layer.Export(str(self.root / "leads.usdc"))
        for folder, body in ((self.root, leads), (self.out, HARMLESS)):
            (folder / "p.usdz").write_bytes(
                package_of([("s.usda", body.encode())], [("s.usda", 0)])
            )


def _inside(roots: WorkspaceRoots, path: str, write: bool) -> bool:
    return roots.contains(path)


# -- files ------------------------------------------------------------------------------------


def usd(random: Random, place: Place, number: int) -> Path:
    """Write a layer, as text or as a crate, with some of its bytes spoiled."""
    content = _layer(random, place)
    suffix = random.choice(("usda", "usdc", "usd"))
    if suffix != "usda" and random.random() < 0.8:
        content = _crate(content)
    if random.random() < 0.5:
        content = spoiled_bytes(random, content)
    path = place.root / f"n{number}.{suffix}"
    path.write_bytes(content)
    return path


def usdz(random: Random, place: Place, number: int) -> Path:
    """Write a package whose entries and directory may disagree."""
    names = ["a.usda", "b.usda", "c.usdc", "sub/d.usda", "e.txt", "../f.usda", "in.usdz"]
    entries = []
    for _ in range(random.randrange(1, 4)):
        name = random.choice(names)
        content = _layer(random, place)
        if name.endswith("c"):
            content = _crate(content)
        elif name.endswith("z"):
            content = package_of([("g.usda", content)], [("g.usda", 0)])
        entries.append((name, content))
    listed = [(name, number) for number, (name, _) in enumerate(entries)]
    if random.random() < 0.4:
        listed = [
            (random.choice(names) if random.random() < 0.4 else name, at)
            for name, at in random.sample(listed, random.randrange(len(listed) + 1))
        ]
    content = package_of(entries, listed)
    if random.random() < 0.4:
        content = spoiled_bytes(random, content)
    if random.random() < 0.1:  # spoil a header
        at = content.find(b"PK", random.randrange(len(content)))
        if at >= 0:
            content = (
                content[:at] + spoiled_bytes(random, content[at : at + 60]) + content[at + 60 :]
            )
    path = place.root / f"n{number}.usdz"
    path.write_bytes(content)
    return path


def blend(random: Random, place: Place, number: int) -> Path:
    """Write a .blend file whose labels may lie."""
    place.samples = place.samples or samples(place.root, place.out)
    path = place.root / f"n{number}.blend"
    # Neighbours share a changed layout, because reading one takes longer than all else.
    layouts = Random(f"layout {number // 64} {place.seed}")
    path.write_bytes(mutated(random, layouts, random.choice(place.samples)))
    return path


def _layer(random: Random, place: Place) -> bytes:
    if random.random() < 0.2:
        return HARMLESS.encode()
    named = random.choice(PLACES).format(out=place.out)
    return ("#usda 1.0\n" + random.choice(BODIES).format(named)).encode()


_crates: dict[bytes, bytes] = {}


def _crate(text: bytes) -> bytes:
    if text not in _crates:
        from pxr import Sdf, Tf

        layer = Sdf.Layer.CreateAnonymous(".usda")
        try:
            layer.ImportFromString(text.decode())
        except Tf.ErrorException:
            return text  # no layer at all
        with tempfile.TemporaryDirectory() as folder:
            layer.Export(f"{folder}/a.usdc")
            _crates[text] = Path(folder, "a.usdc").read_bytes()
    return _crates[text]


# -- readers ----------------------------------------------------------------------------------


def check_usd(path: Path) -> None:
    """Check a USD file. Raises HostError if it may lead outside."""
    from pxr import Ar, Sdf, Tf, Usd, UsdUtils

    from callboard.host_kit.usd_named import refuse_usd_outside

    check_usd_nesting(str(path))
    refuse_usd_outside(str(path), Ar, Sdf, Tf, Usd, UsdUtils)


def read_usd(path: Path) -> bool:
    """Open the stage with every variant, and read every value. Return whether it could be
    opened."""
    from pxr import Tf, Usd

    try:
        stage = Usd.Stage.Open(str(path), Usd.Stage.LoadAll)
    except Tf.ErrorException:
        return False
    if not stage:
        return False
    for prim in list(stage.TraverseAll()):
        sets = prim.GetVariantSets()
        for name in sets.GetNames():
            for each in sets.GetVariantSet(name).GetVariantNames():
                with suppress(Tf.ErrorException):
                    sets.SetSelection(name, each)
    for prim in stage.TraverseAll():
        for attribute in prim.GetAttributes():
            with suppress(Tf.ErrorException):
                attribute.Get(1)
    return True


def check_blend(path: Path) -> None:
    """Check a .blend file. Raises HostError if it may lead outside."""
    from callboard_blender.ports.files import checked_blend

    checked_blend(str(path))


Make = Callable[[Random, Place, int], Path]
KINDS: dict[str, tuple[Make, Callable[[Path], None], Callable[[Path], bool]]] = {
    "usd": (usd, check_usd, read_usd),
    "usdz": (usdz, check_usd, read_usd),
    "blend": (blend, check_blend, read_blend),
}


# -- the program ------------------------------------------------------------------------------


def work(kind: str, seed: int, first: int, last: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield each file's outcome: ``refused``, ``opened``, ``unreadable``; or an ``escape``."""
    make, check, read = KINDS[kind]
    place = Place(folder, seed)
    if kind != "blend":
        place.stages()
    outside = Opened(place.out)
    for number in range(first, last):
        yield {"number": number, "does": "make"}
        path = make(Random(f"{kind} {seed} {number}"), place, number)
        outside.names()
        signal.alarm(PATIENCE)
        yield {"number": number, "does": "check"}
        try:
            check(path)
        except HostError:
            became = "refused"
        else:
            became = ""
        peeked = outside.names()
        if not became:
            yield {"number": number, "does": "read"}
            became = "opened" if read(path) else "unreadable"
        if escaped := [*peeked, *outside.names()]:
            kept = shutil.copy(path, folder / f"escape-{path.name}")
            yield {"number": number, "escape": escaped, "file": str(kept), "peeked": bool(peeked)}
        path.unlink()
        yield {"number": number, "became": became}


def main() -> int:
    parser = argparse.ArgumentParser(prog="readers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--in", dest="folder", type=Path)
    asked = parser.parse_args()
    if asked.folder is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        for told in work(asked.kind, asked.seed, asked.first, asked.count, asked.folder):
            print(json.dumps(told), flush=True)
        return 0
    began = perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="readers-"))
    tally: Counter[str] = Counter()
    escapes: list[dict[str, Any]] = []
    for last in _ends(asked, folder, tally, escapes):
        tally[f"ended the {last['does']}"] += 1
        print(json.dumps({"ended at": last}), file=sys.stderr)
    del tally[""]
    told = {"kind": asked.kind, "seed": asked.seed, "files": asked.count, **tally}
    told["escapes"], told["seconds"] = len(escapes), round(perf_counter() - began, 1)
    print(json.dumps(told))
    if not escapes:
        shutil.rmtree(folder)
    return 1 if escapes else 0


def _ends(
    asked: argparse.Namespace, folder: Path, tally: Counter[str], escapes: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Run all files. Yield the last step of each process that a file ended."""
    last: dict[str, Any] = {"number": -1}
    while last["number"] + 1 < asked.count:
        command = [sys.executable, "-m", "hostile.readers", asked.kind, "--seed", str(asked.seed)]
        command += ["--count", str(asked.count), "--from", str(last["number"] + 1)]
        command += ["--in", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if not line.startswith(b"{"):
                    continue  # the reader's own output
                told = json.loads(line)
                if "escape" in told:
                    escapes.append(told)
                    print(json.dumps(told), file=sys.stderr)
                else:
                    last = told
                    tally[told.get("became", "")] += 1
        if process.wait():
            yield last


if __name__ == "__main__":
    sys.exit(main())
