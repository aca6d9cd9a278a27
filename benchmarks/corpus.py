"""Runs every tool that makes changes on each file in a folder, and reports anything that is lost.

    python benchmarks/corpus.py FOLDER [--changes N] [--seed N] [--files N] [--match PATTERN]
        [--host HOST] [--jobs N] [--deadline SECONDS] [--python PYTHON] [--keep FOLDER]
        [--record FILE] [--replay JSON] [--window]

Files are .blend, glTF, FBX, OBJ and USD. Blender (the wheel ``bpy``) opens or imports each file.
With ``--host openusd``, the OpenUSD host opens the USD files. With ``--window``, Blender's real
window does (see ``corpus_window``), instead of the wheel. Each file is changed in a separate
process, through the host, as a server calls it. The seed determines which tools and arguments are
drawn. All of the file's contents are compared before and after each change, and again after undo. A
process without callboard then reads the saved file. A failure is one of:

* a traceback, or a process that died
* ``verified: false`` without a ``doubt``
* something else was lost: a datablock, or a value that the tool isn't meant to change
* something outside of the current scene was changed
* a refused call changed something
* undo wasn't exact
* another process found something else in the saved file

The first failure of each kind is retried with fewer calls, and then with fewer objects. The
shortest sequence that still fails is reported with its file and its calls, for ``--replay``. Prints
counts, the doubts, and the refusals by reason, and exits with 1 if anything failed. A new tool is
tested without being named here. A tool that removes something on purpose must be listed in ``MAY``
in its host's module.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SUFFIXES = {
    "blender": (".blend", ".gltf", ".glb", ".fbx", ".obj", ".usd", ".usda", ".usdc", ".usdz"),
    "openusd": (".usd", ".usda", ".usdc", ".usdz"),
}
#: Seconds that one replay of a failure may take.
REPLAY = 120
#: Maximum number of failures of one kind that are shortened.
SHRUNK = 1
#: Number of changes after which a sequence is undone. Blender keeps 32 states.
SEQUENCE = 6
#: Tools that replace or save the scene, run a user's own code, or use a network.
LEFT_OUT = {
    *("scene__open_file", "structure__new_scene", "scene__save_file", "script__execute"),
    *("assets__download", "script_on_file__execute"),
}


class Refused(Exception):
    """The host refused a call. The message gives the reason."""


def changing_tools(host: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the arguments' schema of each tool that changes this host's scene or
    writes it to files."""
    from callboard.host import FILESYSTEM_WRITE, SCENE_MUTATE
    from callboard.skills.discovery import BUNDLED, scan, search_paths
    from callboard.skills.discovery_cache import DiscoveryCache

    kind, shipped = host.identity.kind, (BUNDLED, *map(Path, host.skill_paths))
    scanned = scan(search_paths(kind, host.skill_paths), kind, DiscoveryCache().load, shipped)
    for skill in (one.skill for one in scanned.skills):
        for tool in skill.tools:
            name, needs = skill.wire_name(tool.name), set(tool.required_capabilities)
            if not needs & {SCENE_MUTATE, FILESYSTEM_WRITE} or not needs <= set(host.ports):
                continue
            if name not in LEFT_OUT and not name.startswith(("render__", "viewport__")):
                yield name, tool.input_schema


class Arguments:
    """Draws arguments from the scene's contents, within what a schema allows."""

    def __init__(self, draw: random.Random, pools: Mapping[str, Sequence[str]]) -> None:
        self._draw = draw
        self._pools = pools

    def of(self, tool: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self._value(tool, name, each, name in required)
            for name, each in schema["properties"].items()
            if name in required or self._draw.random() < 0.3
        }

    def _value(self, tool: str, name: str, schema: Mapping[str, Any], required: bool) -> Any:
        draw, skill = self._draw, tool.partition("__")[0]
        if pool := self._pools.get(f"{tool}.{name}") or self._pools.get(f".{name}"):
            return draw.choice(pool)
        if name == "name" and not required:
            return draw.choice(["Made", "Côté", *self._pools["objects"][:1]])
        if name == "new_name":
            return draw.choice(["Renamed", "Nommé", *self._pools["objects"][:2]])
        if name in ("name", "names", "objects", "parent", "other", "target"):
            pool = self._pools.get(skill if name == "name" else "objects") or self._pools["objects"]
            if "array" in schema["type"] and name != "target":
                return draw.sample(pool, min(len(pool), draw.randint(1, 3))) or ["Nothing"]
            if "null" in schema["type"] and draw.random() < 0.3:
                return None
            return draw.choice(pool) if pool else "Nothing"
        return self._by_type(schema)

    def _by_type(self, schema: Mapping[str, Any]) -> Any:
        draw = self._draw
        if "enum" in schema:
            return draw.choice(schema["enum"])
        types = schema["type"]
        kind = types if isinstance(types, str) else draw.choice([t for t in types if t != "null"])
        if kind == "array":
            count = draw.randint(schema.get("minItems", 1), min(schema.get("maxItems", 3), 4))
            return [self._by_type(schema["items"]) for _ in range(count)]
        if kind == "object":
            asked = schema.get("required", ())
            inside = schema.get("properties", {}).items()
            return {k: self._by_type(v) for k, v in inside if k in asked or draw.random() < 0.5}
        if kind == "boolean":
            return draw.random() < 0.5
        if kind in ("number", "integer"):
            least = max(schema.get("minimum", schema.get("exclusiveMinimum", -4)), -4)
            most = max(min(schema.get("maximum", 6), 6), least)
            if kind == "integer":
                return draw.randint(int(least), int(most))
            return round(draw.uniform(least, most), 2) or 0.5
        pattern = schema.get("pattern", "")
        return draw.choice(re.findall(r"\w+", pattern) or ["text", "#80ff20"])


class Trial:
    """Changes one file in this process. ``told`` is the report on the changes."""

    def __init__(self, stage: Any, log: Path) -> None:
        self.stage = stage
        self._log = log
        self.told: dict[str, Any] = {
            "opened": True,
            "done": Counter(),
            "refused": [],
            "doubted": [],
            "failed": [],
            "calls": [],
        }
        self._calls: list[tuple[str, dict[str, Any]]] = []
        self._stack: list[tuple[str, Any]] = []
        #: The file's contents, as last read.
        self._now: Any = None
        #: True once undo has failed, so that the file no longer has its former contents.
        self._lost = False

    def draw(self, count: int, seed: int) -> None:
        """Make ``count`` random changes, the same for the same seed."""
        draw, tools = random.Random(seed), dict(changing_tools(self.stage.host))
        order: list[str] = []
        for _ in range(count):
            order = order or draw.sample(sorted(tools), len(tools))
            tool = order.pop()
            self.call(tool, Arguments(draw, self.stage.pools()).of(tool, tools[tool]))
            failed = len(self.told["failed"])
            if failed or len(self._stack) >= SEQUENCE or draw.random() < 0.4:
                self.undo()
            if self._lost:
                return
        self.undo()

    def replay(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
        for tool, arguments in calls:
            self.call(tool, arguments)
        self.undo()

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        if not self._stack:
            self._calls.clear()
        self._calls.append((tool, arguments))
        self.told["calls"] = self._calls
        self._log.write_text(json.dumps(self.told))
        before = self._now = self._now or self.stage.contents()
        try:
            answer = self.stage.call(tool, arguments)
        except Refused as error:
            self.told["refused"].append([tool, str(error), arguments])
            self._same(before, f"{tool}: refused, but changed")
            self._calls.pop()
            return
        except Exception as error:
            self._fail(f"{tool}: traceback", f"{error}\n{traceback.format_exc(limit=-6)}")
            self._same(before, f"{tool}: failed, but changed")
            return
        self.told["done"][tool] += 1
        if isinstance(answer, dict) and answer.get("verified") is False:
            if "doubt" in answer:
                self.told["doubted"].append(f"{tool}: {answer['doubt']}")
            else:
                self._fail(f"{tool}: verified is false", "without a doubt")
        after = self._now = self.stage.contents()
        for why in self.stage.harm(tool, arguments, answer, before, after):
            self._fail(f"{tool}: {why.partition(':')[0]}", why)
        if self.stage.undo_id is not None:
            self._stack.append((tool, before))
        elif not alike(before, after):
            self._fail(f"{tool}: changed without an undo step", difference(before, after))

    def undo(self) -> None:
        while self._stack:
            tool, before = self._stack.pop()
            if not self.stage.undo():
                self._fail(f"{tool}: undo was refused", "")
                self._stack.clear()
                self._lost = True
                return
            self._same(before, f"{tool}: undo isn't exact")
            if self._lost:
                self._stack.clear()  # The earlier steps would differ by the same.

    def _same(self, before: Any, kind: str) -> None:
        now = self._now = self.stage.contents()
        if not alike(before, now):
            self._fail(kind, difference(before, now))
            self._lost = True

    def _fail(self, kind: str, why: Any) -> None:
        if kind not in [each["kind"] for each in self.told["failed"]]:
            failed = {"kind": kind, "why": str(why), "calls": [*self._calls]}
            self.told["failed"].append(failed)


def changes(before: Any, after: Any) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Yield each difference: the datablock, the path ("" for the whole datablock), the old and the
    new value."""
    for key in [*before.values, *(after.values.keys() - before.values.keys())]:
        old, new = before.values.get(key), after.values.get(key)
        if old is None or new is None:
            yield key, "", None if old is None else "there", None if new is None else "there"
        elif old != new:
            for path in [*old, *(new.keys() - old.keys())]:
                if old.get(path) != new.get(path):
                    yield key, path, old.get(path), new.get(path)


def alike(before: Any, after: Any) -> bool:
    """Return whether the two are equal, apart from linked data: undo may keep newly linked data
    that nothing uses, and may lose data that nothing used before, or read it from its library
    again."""
    apart = before.unused | (after.linked - before.linked)
    old, new = (
        {key: each for key, each in contents.values.items() if key not in apart}
        for contents in (before, after)
    )
    return old == new


def difference(before: Any, after: Any) -> str:
    names = {**after.names, **before.names}
    lines = [f"{key} ({names[key]}) {path}: {old} -> {new}"
             for key, path, old, new in changes(before, after)]  # fmt: skip
    return "; ".join(lines[:6]) + (f"; {len(lines) - 6} more" if len(lines) > 6 else "")


def work(job: dict[str, Any], stage_in: Callable[[Path], Any] | None = None) -> dict[str, Any]:
    """Run a job in this process, and return the report on it. ``stage_in`` makes another stage than
    the host's own, in a folder."""
    module = importlib.import_module(f"corpus_{job['host']}")
    with TemporaryDirectory(prefix="callboard-corpus-", ignore_cleanup_errors=True) as folder:
        stage = stage_in(Path(folder)) if stage_in else module.Stage(Path(folder))
        trial = Trial(stage, Path(job["log"]))
        try:
            stage.open(job["file"], job.get("without", ()))
        except Refused as error:
            trial.told["refused"].append(["open", str(error), {}])
            return {**trial.told, "opened": False}
        if (calls := job.get("calls")) is not None:
            trial.replay(calls)
        else:
            trial.draw(job["changes"], job["seed"])
        if not trial.told["failed"] and (wrong := list(stage.read_by_another())):
            failed = {"kind": "saved: not the same", "why": "; ".join(wrong[:6]), "calls": []}
            trial.told["failed"].append(failed)
        if keep := job.get("keep"):
            stage.save(keep)
        return {**trial.told, "opened": True, "objects": stage.pools()["objects"]}


class Corpus:
    """Runs each job in a separate process."""

    def __init__(self, host: str, python: str, folder: Path) -> None:
        self._host = host
        self._python = python
        self._folder = folder

    def outcome(self, file: str, deadline: float, **job: Any) -> dict[str, Any]:
        log = self._folder / f"{random.getrandbits(48)}.json"
        sent = {"host": self._host, "file": file, "log": str(log), **job}
        told, why = self._run(sent, deadline)
        if told:
            return told
        empty = {
            "done": {},
            "refused": [],
            "doubted": [],
            "failed": [],
            "calls": [],
            "opened": False,
        }
        told = json.loads(log.read_text()) if log.exists() else empty
        last = told["calls"][-1][0] if told["calls"] else "open"
        told["failed"].append({"kind": f"{last}: no answer", "why": why, "calls": told["calls"]})
        return told

    def _run(self, job: dict[str, Any], deadline: float) -> tuple[dict[str, Any], str]:
        """Return the report, or an empty one and the reason why there is none."""
        command = [self._python, __file__, "--job", json.dumps(job)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  timeout=deadline, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return {}, f"no answer after {deadline:.0f} s"
        lines = [each for each in done.stdout.splitlines() if each.startswith('{"opened"')]
        return json.loads(lines[-1]) if lines else {}, f"{done.returncode}: {done.stderr[-1500:]}"

    def shrunk(self, file: str, failed: Any, objects: Sequence[str]) -> dict[str, Any]:
        """Return a shorter sequence, on fewer objects, that fails in the same way."""
        kind, calls = failed["kind"], failed["calls"]

        def fails(calls: Sequence[Any], without: Sequence[str]) -> bool:
            now = self.outcome(file, REPLAY, calls=calls, without=without)
            return any(each["kind"] == kind for each in now["failed"])

        if not calls or not fails(calls, ()):
            return {"calls": calls, "without": [], "again": False}
        if len(calls) > 1 and fails(calls[-1:], ()):
            calls = calls[-1:]
        for number in range(len(calls) - 2, -1, -1):
            fewer = calls[:number] + calls[number + 1 :]
            if fails(fewer, ()):
                calls = fewer
        asked = json.dumps(calls)
        left = [name for name in objects if json.dumps(name) not in asked]
        without: list[str] = []
        size = len(left)
        while size:
            for start in range(0, len(left), size):
                part = left[start : start + size]
                if fails(calls, [*without, *part]):
                    without += part
            left = [name for name in left if name not in without]
            size = size // 4 if size > 1 else 0
        return {"calls": calls, "without": without, "again": True}


def general(reason: str) -> str:
    """Return the reason with its names and numbers replaced, which makes similar reasons equal."""
    return re.sub(r"\d+(\.\d+)?", "N", re.sub(r"(?<!n)'[^']*'|\"[^\"]*\"|/[\w/.-]+", "…", reason))[
        :170
    ]


def report(
    outcomes: Iterator[tuple[str, dict[str, Any]]],
    corpus: Corpus,
    keep: Path | None,
    record: Path | None,
) -> int:
    done: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    doubted: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    files = opened = 0
    for file, told in outcomes:
        files += 1
        if record:
            with record.open("a") as lines:
                lines.write(json.dumps({"file": file, **told}) + "\n")
        opened += told["opened"]
        done.update(told["done"])
        refused.update(general(f"{tool}: {why}") for tool, why, _ in told["refused"])
        doubted.update(map(general, told["doubted"]))
        if not told["failed"]:
            continue
        print(f"FAILED {file}")
        for each in told["failed"]:
            failed[each["kind"]] += 1
            print(f"    {each['kind']}: {each['why'][:700].strip()}", flush=True)
            if failed[each["kind"]] > SHRUNK:
                continue
            least = corpus.shrunk(file, each, told.get("objects", ()))
            print("    " + json.dumps({"file": file, **least}, ensure_ascii=False), flush=True)
            if keep and least["again"]:
                kept = str(keep / re.sub(r"\W+", "-", each["kind"]))
                corpus.outcome(file, REPLAY, calls=[], without=least["without"], keep=kept)
    totals = f"{done.total()} changes, {refused.total()} refused, {failed.total()} failed"
    print(f"{files} files, {opened} opened, {totals}")
    for counter in (failed, done, doubted, refused):
        print("".join(f"{count:6d} {what}\n" for what, count in counter.most_common()))
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--host", choices=SUFFIXES, default="blender")
    parser.add_argument("--changes", type=int, default=100, help="changes tried on each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, help="number of files, drawn by the seed")
    parser.add_argument("--match", default="", help="only files whose path fits this pattern")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--deadline", type=float, default=400, help="seconds that a file may take")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with another bpy")
    parser.add_argument("--keep", type=Path, help="a folder for the smallest failing files")
    parser.add_argument("--record", type=Path,
                        help="a file that gets one line of JSON for each file: its changes, and "
                        "each refusal with its arguments")  # fmt: skip
    parser.add_argument("--replay", help="a line that a failure printed")
    parser.add_argument("--window", action="store_true", help="use Blender's real window")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        # The host's module imports ``corpus`` too, and has to get the same module.
        told = importlib.import_module("corpus").work(json.loads(options.job))
        print("\n" + json.dumps(told), flush=True)
        return 0
    with TemporaryDirectory(prefix="callboard-corpus-") as folder:
        kind = importlib.import_module("corpus_window").InAWindow if options.window else Corpus
        corpus = kind(options.host, options.python, Path(folder))
        if options.replay:
            job = json.loads(options.replay)
            print(json.dumps(corpus.outcome(job["file"], options.deadline, calls=job["calls"],
                                            without=job["without"]), indent=1))  # fmt: skip
            return 0
        suffixes = SUFFIXES[options.host]
        files = sorted(
            str(path)
            for path in options.folder.resolve().rglob("*")
            if path.suffix.lower() in suffixes and re.search(options.match, str(path))
        )
        random.Random(options.seed).shuffle(files)
        files = files[: options.files]

        def one(numbered: tuple[int, str]) -> tuple[str, dict[str, Any]]:
            number, file = numbered
            told = corpus.outcome(
                file, options.deadline, changes=options.changes, seed=options.seed + number
            )
            return file, told

        with ThreadPoolExecutor(options.jobs) as pool:
            return report(pool.map(one, enumerate(files)), corpus, options.keep, options.record)


if __name__ == "__main__":
    sys.exit(main())
