"""Makes a hundred small mistakes in the code, and counts those that the tests notice.

    python benchmarks/mutations.py FOLDER [--count 100] [--seed 1] [--limit 60]
    python benchmarks/mutations.py FOLDER --at REV --missed OTHER

Mistakes are spread over `core` and `hosts` in proportion to their lines: a different operator, a
negated condition, a different constant, an omitted statement or return value. Messages and type
hints stay as they are. FOLDER keeps a clone of this repository's last commit, the plan and every
outcome. A second run of the program continues where the first one ended.

First the quick tests run once, with a probe at the location of each mistake. Then each mistake is
made in the clone. Of the tests that `tests/touched.py` picks for the mistake's file, those that
reach the changed code are run, because the others can't notice it.

The second form shows which mistakes the tests of an earlier commit would have noticed. It takes the
mistakes that the tests of another run, in the folder OTHER, didn't catch. It looks for the same
code at that commit, makes each mistake there, and runs all of that commit's quick tests that reach
it. Code that didn't exist yet is counted as `absent`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from importlib import import_module
from itertools import permutations
from pathlib import Path
from queue import Queue
from threading import Lock

PROJECT = Path(__file__).resolve().parents[1]
_PICKING = Lock()
#: The clones, one for each process.
WORKERS = ("tree", "tree2")
#: The tests that `test --changed` runs in the files that it picks.
QUICK = "not slow and not sweep"
#: Operators, each of which is replaced with the other one in its pair.
PAIRS = [
    (ast.Eq, ast.NotEq),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.FloorDiv, ast.Mod),
]
OTHER: dict[type, type] = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
#: Records which tests execute the code that contains a mistake. It is both a module in the clone
#: and a pytest plug-in.
PROBE = """
import os
# Open from the start: some tests give up their rights for a while.
_file = os.open({file!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_seen = set()

def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "import").rpartition(" ")[0] or "import"
    if (number, test) not in _seen:
        _seen.add((number, test))
        os.write(_file, f"{{number}}\\t{{test}}\\n".encode())

def pytest_runtest_logreport(report):
    if report.failed:
        os.write(_file, f"failed\\t{{report.nodeid}}\\n".encode())
"""


@dataclass
class Mistake:
    path: str
    line: int
    kind: str
    #: The bytes of the file to replace, from ``start`` to ``end``, and the old and the new text.
    start: int
    end: int
    old: str
    new: str

    def put(self, root: Path, text: str) -> None:
        source = (root / self.path).read_bytes()
        wrong = source[: self.start] + text.encode() + source[self.end :]
        (root / self.path).write_bytes(wrong)

    def probe(self, number: int) -> str:
        hit = f"__import__('mutation_probe').hit({number})"
        if self.kind == "statement":
            return f"{hit}; {self.old}"
        # Brackets allow line breaks anywhere.
        return f"({hit} or ({self.old}))"


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the kind of each mistake that can be made at a node, the node to replace and its new
    text."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            new = ast.Compare(node.left, [OTHER[type(op)]()], node.comparators)
            yield "operator", node, f"({ast.unparse(new)})"
        case ast.BoolOp():
            new = ast.BoolOp(OTHER[type(node.op)](), node.values)
            yield "operator", node, f"({ast.unparse(new)})"
        case ast.BinOp(op=op) if type(op) in OTHER and not _is_text(node):
            new = ast.BinOp(node.left, OTHER[type(op)](), node.right)
            yield "operator", node, f"({ast.unparse(new)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "operator", node, f"({ast.unparse(operand)})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", test, f"(not ({ast.unparse(test)}))"
        case ast.Constant(value=bool(value)):
            yield "constant", node, str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", node, f"{value + 1}"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "return", value, "None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Delete():
            yield "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", node, "pass"


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def executable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the executable nodes below it. Leaves out raises, asserts, f-strings,
    parameters, decorators, base classes, match patterns, type hints, ``__all__`` and
    ``__slots__``."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "pattern", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            match child:
                case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.arguments():
                    continue
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
                    continue
                case ast.AST():
                    yield from executable(child)


def mistakes(path: Path, root: Path) -> Iterator[Mistake]:
    text = path.read_text("utf-8")
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in executable(ast.parse(text)):
        for kind, place, new in changed(node):
            assert isinstance(place, ast.expr | ast.stmt)
            assert place.end_lineno is not None
            assert place.end_col_offset is not None
            start = lines[place.lineno - 1] + place.col_offset
            end = lines[place.end_lineno - 1] + place.end_col_offset
            old = text.encode()[start:end].decode()
            where = path.relative_to(root).as_posix()
            yield Mistake(where, place.lineno, kind, start, end, old, new)


def planned(count: int, seed: int) -> list[Mistake]:
    """Draw lines first, and then, for each line, one of the mistakes that can be made there."""
    by_line: defaultdict[tuple[str, int], list[Mistake]] = defaultdict(list)
    for root in ("core", "hosts"):
        for path in sorted((PROJECT / root).rglob("*.py")):
            for mistake in mistakes(path, PROJECT):
                by_line[mistake.path, mistake.line].append(mistake)
    chance = random.Random(seed)
    chosen = [chance.choice(by_line[each]) for each in chance.sample(sorted(by_line), count)]
    for one, other in permutations(chosen, 2):
        if one.path == other.path and one.start <= other.start < one.end:
            chosen.remove(other)
    return chosen


def around(root: Path, mistake: Mistake) -> list[str]:
    """Return the lines near a mistake, without their indentation."""
    lines = (root / mistake.path).read_text("utf-8").splitlines()
    return [line.strip() for line in lines[max(0, mistake.line - 6) : mistake.line + 5]]


def moved(plan: list[Mistake], root: Path) -> list[Mistake | None]:
    """For each mistake in this commit, return the same mistake in a different tree, or None."""
    there: defaultdict[tuple[str, str], list[Mistake]] = defaultdict(list)
    for top in ("core", "hosts"):
        for path in sorted((root / top).rglob("*.py")):
            for mistake in mistakes(path, root):
                there[mistake.old, mistake.new].append(mistake)

    def likeness(one: Mistake, other: Mistake) -> float:
        return SequenceMatcher(None, around(PROJECT, one), around(root, other)).ratio()

    places: list[Mistake | None] = []
    for one in plan:
        known = there[one.old, one.new]
        best = max(known, key=lambda other, one=one: likeness(one, other), default=None)  # type: ignore[misc]
        places.append(best if best and likeness(one, best) > 0.3 else None)
    return places


@dataclass
class Run:
    folder: Path
    tree: Path
    plan: list[Mistake]
    limit: float

    def pytest(self, *words: str, seconds: float | None = None) -> tuple[int | None, str]:
        """Return pytest's exit code, or None if it took too long, and its output."""
        command = ["nice", "-n", "15", sys.executable, "-m", "pytest", "-q"]
        command += ["-p", "no:cacheprovider", "--hypothesis-profile", "fast", *words]
        roots = [str(self.tree / root) for root in ("core", "hosts", "ui", "tests", "packaging")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
        # With bytecode from earlier runs, a short run takes a third of the time.
        env["PYTHONPYCACHEPREFIX"] = str(self.folder / "bytecode")
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        with (self.tree / "said").open("w+", encoding="utf-8") as output:
            started = subprocess.Popen(
                command,
                cwd=self.tree,
                env=env,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                code: int | None = started.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, 9)
                started.wait()
                code = None
            output.seek(0)
            return code, output.read()

    def trace(self, words: list[str]) -> None:
        """Run the tests once with a probe at the location of each mistake."""
        file = self.folder / "hits"
        file.unlink(missing_ok=True)
        (self.tree / "core" / "mutation_probe.py").write_text(PROBE.format(file=str(file)), "utf-8")
        by_file: defaultdict[str, list[int]] = defaultdict(list)
        for number, mistake in enumerate(self.plan):
            by_file[mistake.path].append(number)
        for numbers in by_file.values():
            # From the end of each file, so that the positions of earlier mistakes don't change.
            for number in sorted(numbers, key=lambda each: -self.plan[each].start):
                self.plan[number].put(self.tree, self.plan[number].probe(number))
        self.pytest("-p", "mutation_probe", "-m", QUICK, "-n", "4", *words)
        self.clean()

    def clean(self) -> None:
        subprocess.run(["git", "checkout", "-q", "--", "core", "hosts"], cwd=self.tree, check=True)

    def hits(self) -> dict[int, list[str]]:
        failed: set[str] = set()
        passing: defaultdict[int, list[str]] = defaultdict(list)
        for line in (self.folder / "hits").read_text("utf-8").splitlines():
            number, test = line.split("\t", 1)
            if number == "failed":
                failed.add(test)
            elif test not in passing[int(number)]:
                passing[int(number)].append(test)
        return {n: [test for test in tests if test not in failed] for n, tests in passing.items()}

    def picked(self, path: str) -> list[str]:
        """Return the test files that a change to this file affects, nearest first."""
        with _PICKING:
            touched = import_module("touched").touched([self.tree.parent / "tree" / path])
            return [test.relative_to(self.tree.parent / "tree").as_posix() for test in touched]

    def outcome(self, number: int, hits: dict[int, list[str]], every: bool) -> tuple[str, str]:
        """Return `caught`, `missed`, `unreached` (no picked test runs the line) or `unfinished`,
        and the test or reason."""
        mistake = self.plan[number]
        by_test = hits.get(number, [])
        if every:
            tests = [test for test in by_test if "::" in test]
            files = sorted({test.partition("::")[0] for test in tests})
        else:
            files = self.picked(mistake.path)
            tests = [test for file in files for test in by_test if test.startswith(f"{file}::")]
        if "import" in by_test:
            tests += files
        if not tests:
            return "unreached", f"by {len(by_test)} tests elsewhere"
        # The nearest tests catch most of them.
        for some in (tests[:40], tests[40:]):
            if (by := self.caught_by(mistake, some)) is not None:
                return by
        return "missed", f"by {len(tests)} tests"

    def caught_by(self, mistake: Mistake, tests: list[str]) -> tuple[str, str] | None:
        """Return `caught` and the first test that fails with the mistake and passes without it; or
        `unfinished` and the reason; or None."""
        left = list(dict.fromkeys(tests))
        while left:
            mistake.put(self.tree, mistake.new)
            code, output = self.chosen(left, seconds=self.limit)
            self.clean()
            if code is None:
                return "unfinished", f"{len(left)} tests in {self.limit:g} s"
            if code == 0:
                return None
            first = re.search(r"^(?:FAILED|ERROR) (.*)", output, re.M)
            by = next((test for test in left if first and first[1].startswith(test)), None)
            if by is None:
                return "caught", output.strip().splitlines()[-1][:100]
            if self.chosen([by])[0] == 0:
                return "caught", by
            # The test sometimes fails on a busy machine, even without the mistake.
            left.remove(by)
        return None

    def chosen(self, tests: list[str], seconds: float | None = None) -> tuple[int | None, str]:
        chosen = self.tree / "chosen"
        chosen.write_text("\n".join(tests), "utf-8")
        return self.pytest("-x", "-o", "timeout=60", f"@{chosen}", seconds=seconds)


def prepared(folder: Path, asked: argparse.Namespace) -> list[Mistake]:
    """Return the plan, and make a clone for each worker in the same folder."""
    plan, trees = folder / "plan.json", [folder / name for name in WORKERS]
    if not plan.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for tree in trees:
            subprocess.run(["git", "clone", "-q", "--shared", PROJECT, tree], check=True)
            if asked.at:
                subprocess.run(["git", "checkout", "-q", asked.at], cwd=tree, check=True)
        if asked.missed:
            chosen = let_through(asked.missed.resolve())
        else:
            chosen = planned(asked.count, asked.seed)
        if asked.at:
            pairs = list(zip(chosen, moved(chosen, trees[0]), strict=True))
            for one, there in pairs:
                at = f"{there.path}:{there.line}" if there else "absent"
                print(f"{one.path}:{one.line}", at)
            chosen = [there for _, there in pairs if there is not None]
        plan.write_text(json.dumps([asdict(each) for each in chosen]), "utf-8")
    return [Mistake(**each) for each in json.loads(plan.read_text("utf-8"))]


def let_through(folder: Path) -> list[Mistake]:
    """Return the mistakes that another run's tests didn't catch."""
    plan = json.loads((folder / "plan.json").read_text("utf-8"))
    outcomes = known(folder / "outcomes.json")
    return [Mistake(**plan[int(n)]) for n, by in outcomes.items() if by[0] != "caught"]


def shown(plan: list[Mistake], outcomes: dict[str, list[str]]) -> str:
    rows = ["| place | mistake | outcome | by |", "|---|---|---|---|"]
    for number, (outcome, why) in sorted(outcomes.items(), key=lambda each: int(each[0])):
        one = plan[int(number)]
        old, new = (" ".join(text.split()).replace("|", "\\|")[:60] for text in (one.old, one.new))
        rows.append(f"| {one.path}:{one.line} | `{old}` → `{new}` | {outcome} | {why} |")
    counts = Counter(outcome for outcome, _ in outcomes.values())
    return "\n".join([*rows, "", ", ".join(f"{n} {what}" for what, n in counts.most_common())])


def known(outcomes: Path) -> dict[str, list[str]]:
    return dict(json.loads(outcomes.read_text("utf-8"))) if outcomes.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds for one mistake")
    parser.add_argument(
        "--at", metavar="REV", help="make the mistakes in another commit, and run its tests"
    )
    parser.add_argument(
        "--missed",
        metavar="FOLDER",
        type=Path,
        help="make only the mistakes that the run in this folder missed",
    )
    parser.add_argument("--every", action="store_true", help="also run tests that weren't picked")
    parser.add_argument("words", nargs="*", help="arguments for pytest in the traced run")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    plan = prepared(folder, asked)
    runs: Queue[Run] = Queue()
    for tree in WORKERS:
        runs.put(Run(folder, (folder / tree).resolve(), plan, asked.limit))
    # Import ``touched`` from the clone, because it lists the clone's files.
    sys.path.insert(0, str(folder / WORKERS[0] / "tests"))
    if not (folder / "hits").exists():
        runs.queue[0].trace(asked.words)
    kept = folder / "outcomes.json"
    outcomes = known(kept)
    hits = runs.queue[0].hits()

    def make(number: int) -> None:
        began, run = time.monotonic(), runs.get()
        try:
            outcomes[str(number)] = list(run.outcome(number, hits, asked.every or asked.at))
        finally:
            runs.put(run)
        kept.write_text(json.dumps(dict(outcomes), indent=1), "utf-8")
        print(number, *outcomes[str(number)], f"{time.monotonic() - began:.0f} s", flush=True)

    with ThreadPoolExecutor(len(WORKERS)) as workers:
        list(workers.map(make, [n for n in range(len(plan)) if str(n) not in outcomes]))
    table = shown(plan, outcomes)
    (folder / "table.md").write_text(table + "\n", "utf-8")
    print(table)


if __name__ == "__main__":
    main()
