"""Tests everything that an agent may do to a scene, on each USD file in a folder.

    python tests/hosts/sweep_usd.py FOLDER [--limit N] [--match TEXT]

Each file is opened, listed and read. Objects are created, transformed, renamed, given a new parent,
colored, copied and deleted. The scene is saved elsewhere and read by a process without callboard,
which must find everything that the tools called verified. Then everything must be undone exactly.
If a process dies, its file is reported as failed. Prints counts, refusals by reason, and every
failure. Exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from time import monotonic
from typing import Any

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
#: Maximum numbers of objects to read and to change in each file.
READ, CHANGED = 500, 3
#: Seconds that one file may take before its process is ended.
DEADLINE = 120


class Undo:
    """The host's undo, and the steps it made."""

    def __init__(self, undo: Any) -> None:
        self._undo = undo
        self.steps: list[str] = []

    def begin(self, label: str) -> object:
        token: object = self._undo.begin(label)
        return token

    def commit(self, token: object) -> str | None:
        undo_id: str | None = self._undo.commit(token)
        if undo_id is not None:
            self.steps.append(undo_id)
        return undo_id

    def rollback(self, token: object) -> bool:
        return bool(self._undo.rollback(token))

    def undo(self, undo_id: str) -> bool:
        return bool(self._undo.undo(undo_id))


class Sweep:
    """The sweep of one file. ``counts`` are the changes made, ``refused`` the reasons for changes
    that weren't made, and ``failed`` the errors."""

    def __init__(self, file: str, folder: Path) -> None:
        from callboard_openusd.host import OpenUsdHost
        from callboard_testing.direct_calls import DirectCaller

        self.file = file
        self.saved = str(folder / "saved.usda")
        self.counts: Counter[str] = Counter()
        self.refused: list[str] = []
        self.failed: list[str] = []
        self.told: dict[str, Any] = {}
        self._host = OpenUsdHost(lambda fn: None)
        self._undo = Undo(self._host.undo)
        self._host.undo = self._undo
        self._call = DirectCaller(self._host)
        self._read: Any = self._host.ports["scene.read"]

    def run(self) -> None:
        from callboard.errors import HostError

        try:
            self._call("scene__open_file", {"path": self.file})
        except HostError as error:
            self.refused.append(f"open: {_general(str(error))}")
            return
        self.counts["opened"] += 1
        self._undo.steps.clear()
        before, names = self._text(), self._read.names()
        for path in names[:READ]:
            try:
                self._read.get(path)
                self.counts["read"] += 1
            except HostError as error:
                self.refused.append(f"read: {_general(str(error))}")
        listed = self._call("scene__list_objects", {"limit": 1000})["objects"]
        if [each["path"] for each in listed] != names[:1000]:
            self.failed.append("list: not the stage's names")
        self._change(names)
        self._save()
        for undo_id in reversed(self._undo.steps):
            if not self._undo.undo(undo_id):
                self.failed.append("undo: refused")
        self.counts["undone"] += len(self._undo.steps)
        if self._text() != before:
            self.failed.append("undo: the layer isn't what it was")
        if self._read.names() != names:
            self.failed.append("undo: the names aren't what they were")

    def _change(self, names: list[str]) -> None:
        chosen = [names[i * len(names) // CHANGED] for i in range(min(CHANGED, len(names)))]
        for path in dict.fromkeys(chosen):
            self._change_untouched(path)
        made = self._try("create", "scene__create_primitive", kind="cube", name="Swept")
        for path in dict.fromkeys(chosen):
            at = self._try("colour", "scene__set_material_color", name=path, color=[1, 0.5, 0])
            at = self._try("transform", "scene__transform", name=path, translate=[1, 2, 3])
            copy = self._try("duplicate", "scene__duplicate", name=path)
            if copy is not None and made is not None:
                copy = self._try("parent", "scene__set_parent", name=copy, parent=made)
            if copy is not None:
                self._try("delete", "scene__delete", name=copy)
            if made is not None:
                at = self._try("parent", "scene__set_parent", name=path, parent=made)
            at = at or path
            at = self._try("rename", "scene__rename", name=at, new_name="SweptName") or at
            self._try("unparent", "scene__set_parent", name=at, parent=None)

    def _change_untouched(self, path: str) -> None:
        """Try each change alone on the freshly opened file, and undo it at once."""
        before = self._text()
        for what, tool, arguments in (
            ("duplicate", "scene__duplicate", {}),
            ("colour", "scene__set_material_color", {"color": [1, 0.5, 0]}),
            ("transform", "scene__transform", {"translate": [1, 2, 3]}),
            ("rename", "scene__rename", {"new_name": "SweptName"}),
            ("delete", "scene__delete", {}),
        ):
            steps = len(self._undo.steps)
            self._try(what, tool, name=path, **arguments)
            while len(self._undo.steps) > steps:
                if not self._undo.undo(self._undo.steps.pop()):
                    self.failed.append(f"{what}: undo refused")
                self.counts["undone"] += 1
            if self._text() != before:
                self.failed.append(f"{what}: undone, but the layer isn't what it was")

    def _try(self, what: str, tool: str, **arguments: object) -> str | None:
        from callboard.errors import HostError

        if "name" in arguments and tool != "scene__create_primitive":
            try:
                self._read.get(arguments["name"])
            except HostError:
                return None  # An earlier change moved the object, or it can't be read.
        before = self._text()
        try:
            answer = self._call(tool, arguments)
        except HostError as error:
            kind = "not verified" if type(error).__name__ == "NotVerified" else what
            if kind == "not verified":
                self.failed.append(f"{what}: {error}")
            self.refused.append(f"{what}: {_general(str(error))}")
            if self._text() != before:
                self.failed.append(f"{what}: refused, but the layer isn't what it was")
            return None
        except Exception:
            self.failed.append(f"{what}: {traceback.format_exc(limit=-3)}")
            return None
        self.counts[what] += 1
        if answer["verified"] is not True:
            self.failed.append(f"{what}: doubt: {answer.get('doubt')}")
        changed: str | None = answer.get("object", {}).get("path")
        return changed

    def _save(self) -> None:
        from callboard.errors import HostError

        try:
            self._call("scene__save_file", {"path": self.saved})
        except HostError as error:
            self.refused.append(f"save: {_general(str(error))}")
            return
        self.counts["saved"] += 1
        for path in self._read.names()[:READ]:
            try:
                summary = self._read.get(path)
            except HostError:
                continue
            self.told[path] = [summary["type"], summary["bounds"], summary["color"]]

    def _text(self) -> str:
        text: str = self._host.stage.GetRootLayer().ExportToString()
        return text


def _general(reason: str) -> str:
    """Return the sentence without the names in it."""
    reason = re.sub(r"(?<=n)'(?=t\b)", "’", reason)
    reason = re.sub(r"'[^']*'|<[^>]*>|@[^@]*@", "…", reason)
    reason = re.sub(r"(?<=because it is defined in )[^;]*", "…", reason)
    return re.sub(r"/[\w/.…-]+", "…", reason)[:160]


_CHECK = """
import json, math, sys
from pxr import Usd, UsdGeom
for line in sys.stdin:
    path, told = json.loads(line)
    wrong = []
    try:
        stage, first = Usd.Stage.Open(path), Usd.TimeCode.EarliestTime()
        boxes = UsdGeom.BBoxCache(first, ["default", "render", "proxy", "guide"], False, True)
        for name, (kind, bounds, color) in told.items():
            prim = stage.GetPrimAtPath(name)
            if not prim or not prim.IsA(UsdGeom.Xformable):
                wrong.append(f"{name} is missing")
                continue
            try:
                box = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
            except Exception:
                continue  # a file that it needs can't be read
            there = None if box.IsEmpty() else [*box.GetMin(), *box.GetMax()]
            if there and not all(map(math.isfinite, there)):
                there = None
            said = bounds and [*bounds["min"], *bounds["max"]]
            same = (there is None) == (said is None) and (there is None or all(
                a == b or abs(a - b) <= 1e-4 * max(1, abs(a)) for a, b in zip(there, said)))
            if not same:
                wrong.append(f"{name} is at {there}, not {said}")
    except Exception as error:
        wrong.append(f"not opened: {error}")
    print(json.dumps(wrong[:5]), flush=True)
"""


class Checker:
    """Reads saved files in another process, without callboard."""

    def __enter__(self) -> Checker:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHECK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(DEADLINE)
        assert self._process.stdout
        self._process.stdout.close()

    def wrong(self, sweep: Sweep) -> list[str]:
        """Return how the saved file differs from what callboard reported."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([sweep.saved, sweep.told]), file=self._process.stdin, flush=True)
        wrong: list[str] = json.loads(self._process.stdout.readline())
        return wrong


def work() -> None:
    """Sweep each file that standard input names, and print a line of JSON for it."""
    with Checker() as checker:
        for line in sys.stdin:
            folder = Path(mkdtemp(prefix="callboard-sweep-"))
            sweep = Sweep(line.strip(), folder)
            try:
                sweep.run()
                if sweep.told:
                    sweep.failed += [f"saved: {each}" for each in checker.wrong(sweep)]
            except Exception:
                sweep.failed.append(traceback.format_exc(limit=-4))
            shutil.rmtree(folder, ignore_errors=True)
            answer = {"counts": sweep.counts, "refused": sweep.refused, "failed": sweep.failed}
            print("\n" + json.dumps(answer), flush=True)


def swept(files: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield each file with its outcome. A process that dies is replaced."""
    worker: Any = None
    for file in files:
        if worker is None:
            worker = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        begun = monotonic()
        timer = Timer(DEADLINE, worker.kill)
        timer.start()
        print(file, file=worker.stdin, flush=True)
        line = "\n"
        while line and not line.startswith('{"counts"'):
            line = worker.stdout.readline()
        timer.cancel()
        if line:
            yield file, json.loads(line)
        else:
            spent = monotonic() - begun
            why = f"the process ended with {worker.wait()} after {spent:.0f} s"
            worker = None
            yield file, {"counts": {}, "refused": [], "failed": [why]}
    if worker is not None:
        worker.stdin.close()
        worker.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--limit", type=int, help="maximum number of files")
    parser.add_argument("--match", default="", help="only files whose path contains this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return 0
    matching = sorted(
        p for p in options.folder.resolve().rglob("*") if p.suffix.lower() in SUFFIXES
    )
    files = [str(p) for p in matching if p.is_file() and options.match in str(p)][: options.limit]
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    failed = 0
    for file, result in swept(files):
        counts.update(result["counts"])
        refused.update(result["refused"])
        if result["failed"]:
            failed += 1
            print(f"FAILED {file}")
            for why in result["failed"][:4]:
                print("   ", why.strip().replace("\n", "\n    ")[:900], flush=True)
    print(f"{len(files)} files, {failed} failed; {dict(counts)}")
    for reason, count in refused.most_common():
        print(f"{count:6d} {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
