"""Compares our checks with applications' readers. A file that makes an application open anything
outside the roots must be refused.

    cd tests && python -m hostile.readers usdz --count 30000 --seed 1

Each number of a seed makes one file: paths that lead out of the root, in every position and
spelling, ambiguous structures, wrong labels, and spoiled bytes. The check looks at the file first.
If the file passes, OpenUSD or Blender opens it, and the system (inotify, so Linux) reports what was
opened outside the roots. A file that ends the process is counted, and the next process continues
after it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pickle
import resource
import shutil
import signal
import struct
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

#: Seconds of processor time for one file. A file that takes longer ends its process.
PATIENCE = 60
#: Bytes of address space of each process. A file that asks for more ends its process.
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
                    if size:  # Otherwise, the folder itself was opened to list its names.
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
        self.kept_samples = folder / "samples"
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
    """Write a layer, as text or as a crate. In half of the files, some bytes are spoiled."""
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
    if random.random() < 0.1:  # Spoil a header.
        at = content.find(b"PK", random.randrange(len(content)))
        if at >= 0:
            content = (
                content[:at] + spoiled_bytes(random, content[at : at + 60]) + content[at + 60 :]
            )
    path = place.root / f"n{number}.usdz"
    path.write_bytes(content)
    return path


def blend(random: Random, place: Place, number: int) -> Path:
    """Write a .blend file whose labels may be wrong."""
    path = place.root / f"n{number}.blend"
    # Consecutive files share a changed layout, because reading a layout takes longest.
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
            return text  # OpenUSD refuses this text, so it stays text.
        with tempfile.TemporaryDirectory() as folder:
            layer.Export(f"{folder}/a.usdc")
            _crates[text] = Path(folder, "a.usdc").read_bytes()
    return _crates[text]


# -- readers ----------------------------------------------------------------------------------


def check_usd(path: Path) -> None:
    """Check a USD file. Raises HostError if it might name files outside."""
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
    """Check a .blend file. Raises HostError if it might name files outside."""
    from callboard_blender.ports.files import checked_blend

    checked_blend(str(path))


Make = Callable[[Random, Place, int], Path]
KINDS: dict[str, tuple[Make, Callable[[Path], None], Callable[[Path], bool]]] = {
    "usd": (usd, check_usd, read_usd),
    "usdz": (usdz, check_usd, read_usd),
    "blend": (blend, check_blend, read_blend),
}


# -- the program ------------------------------------------------------------------------------


def prepare(kind: str, place: Place) -> None:
    """Write the files that the generated ones need. This runs in a separate process, because a
    reader that has started its threads can't be forked."""
    if kind == "blend":
        place.kept_samples.write_bytes(pickle.dumps(samples(place.root, place.out)))
    else:
        place.stages()


def work(
    kind: str, numbers: range, place: Place, outside: Opened, tell: Callable[..., None]
) -> None:
    """Report each file's outcome, which is ``refused``, ``opened``, ``unreadable`` or an
    ``escape``."""
    make, check, read = KINDS[kind]
    if kind == "blend":
        place.samples = pickle.loads(place.kept_samples.read_bytes())
    for number in numbers:
        tell(number=number, does="make")
        path = make(Random(f"{kind} {place.seed} {number}"), place, number)
        outside.names()
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        signal.alarm(20 * PATIENCE)
        tell(number=number, does="check")
        try:
            check(path)
        except HostError:
            became = "refused"
        else:
            became = ""
        peeked = outside.names()
        if not became:
            tell(number=number, does="read")
            became = "opened" if read(path) else "unreadable"
        if escaped := [*peeked, *outside.names()]:
            kept = shutil.copy(path, place.root.parent / f"escape-{path.name}")
            tell(number=number, escape=escaped, file=str(kept), peeked=bool(peeked))
        path.unlink()
        tell(number=number, became=became)


def forked(work: Callable[[Callable[..., None]], None]) -> Iterator[dict[str, Any]]:
    """Run ``work`` in a forked process, with its output discarded. Yield what it reports, and
    finally its exit ``status``."""
    heard, says = os.pipe()
    if not (pid := os.fork()):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        work(lambda **told: void(os.write(says, json.dumps(told).encode() + b"\n")))
        os._exit(0)
    os.close(says)
    with os.fdopen(heard) as lines:
        yield from map(json.loads, lines)
    yield {"status": os.waitpid(pid, 0)[1]}


def void(_: object) -> None:
    """Do nothing."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="readers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    began = perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="readers-"))
    place = Place(folder, asked.seed)
    if asked.kind != "blend":
        from pxr import Ar, Sdf, Tf, Usd, UsdUtils  # noqa: F401 - so that each process has them
    list(forked(lambda _: prepare(asked.kind, place)))
    outside = Opened(place.out)
    tally: Counter[str] = Counter()
    escapes, at = 0, 0
    while at < asked.count:
        numbers = range(at, asked.count)
        last: dict[str, Any] = {"number": at, "does": "start"}
        for told in forked(partial(work, asked.kind, numbers, place, outside)):
            if "escape" in told:
                escapes += 1
                print(json.dumps(told), file=sys.stderr)
            elif "status" not in told:
                last = told
                tally[told.get("became", "")] += 1
        if "became" not in last:
            # Files that the process opened before its end count too.
            opened = outside.names()
            escapes += bool(opened and last["does"] != "make")
            tally[f"ended the {last['does']}"] += 1
            print(json.dumps({"ended at": last, "opened": opened}), file=sys.stderr)
        at = last["number"] + 1
    del tally[""]
    told = {"kind": asked.kind, "seed": asked.seed, "files": asked.count, **tally}
    print(json.dumps({**told, "escapes": escapes, "seconds": round(perf_counter() - began, 1)}))
    if not escapes:
        shutil.rmtree(folder)
    return 1 if escapes else 0


if __name__ == "__main__":
    sys.exit(main())
