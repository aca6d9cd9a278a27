"""The tests that a change touches: ``python tests/touched.py [--since REV] [FILE...]``.

Every module of core leads to every other one, so "imports the changed file" would pick everything.
A random walk is more precise. It starts at a test and follows imports, each as likely as the next,
through helpers, fixtures and sources. A shipped tool or a command that a test calls by its name is
treated as imported, too. The more likely the walk is to reach a changed file, the more the test has
to do with that file. At most `MOST` test files are picked, in this order:

1. the changed test files, and those of the changed file's own room (`tests/calls` for
   `core/callboard/calls`; for a host, the tests with its name);
2. the test files from which a walk is most likely to reach the changed file.

The tests that read the whole tree are always picked. Test files with no tests in the quick tier
are picked only if they have changed. Without FILE, the change is the difference from REV, and REV
is HEAD unless it is given.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from source_trees import PROJECT, facts

ROOTS = ("core", "hosts", "ui", "packaging", "benchmarks", "tests")
TESTS = PROJECT / "tests"
MOST = 40
ALWAYS = {
    TESTS / f"test_{what}.py": "always" for what in ("addresses", "house", "imports", "public_face")
}
#: Skills are found by folder, so no import leads to them or to the modules that only they use.
OF_SKILLS = ("core/callboard/skills/bundled", "core/callboard/skill_kit")
COMPLIANCE = TESTS / "hosts" / "test_compliance.py"
#: Rooms whose tests start programs, build archives or run whole clients.
SLOW_ROOMS = {"conformance", "docs", "e2e", "packaging"}
#: The command line's package imports a command's module only when the command is called.
CLI = "callboard_programs.cli"
#: A tool's name and its script.
SCRIPTS = re.compile(r"^  - name: (\w+)$.*?^    source_file: (\S+)$", re.MULTILINE | re.DOTALL)
ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(slow|sweep)\b", re.MULTILINE)


@cache
def files() -> dict[str, Path]:
    """Return all of the project's modules, by dotted name from their root."""
    modules = {}
    for root in (PROJECT / name for name in ROOTS):
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


@cache
def called() -> dict[str, Path]:
    """Return the script of each shipped tool, by the tool's name."""
    return {
        f"{declared.parent.name}__{tool}": declared.parent / script
        for declared in (PROJECT / OF_SKILLS[0]).glob("*/tools.yaml")
        for tool, script in SCRIPTS.findall(declared.read_text("utf-8"))
    }


@cache
def leads_to(path: Path) -> frozenset[Path]:
    """Return the project's files that one file imports, and, for a test, the files of its
    fixtures."""
    root = PROJECT / path.relative_to(PROJECT).parts[0]
    folder = path.relative_to(root).parent.parts
    ahead: set[Path | None] = set()
    for _, level, module, name in facts(path).imports:
        above = folder[: len(folder) - level + 1] if level else ()
        dotted = [*above, *filter(None, module.split(".")), *name.split(".")]
        # A test's helper is in the same folder, and is imported by its bare name.
        beside = module_of([*folder, *dotted], len(folder)) if root == TESTS else None
        ahead.add(beside or module_of(dotted, 0))
    if root == TESTS:
        asked = {name for _, name in facts(path).names}
        for above_it in path.parents[: len(folder) + 1]:
            conftest = above_it / "conftest.py"
            if conftest.exists() and asked & {name for name, _ in facts(conftest).functions}:
                ahead.add(conftest)
        ahead |= {called().get(word) for word in facts(path).texts}
        if any(module == CLI for _, _, module, _ in facts(path).imports):
            commands = (word.replace("-", "_") for word in facts(path).texts)
            ahead |= {files().get(f"{CLI}.{word}_command") for word in commands}
    return frozenset(one for one in ahead if one not in (None, path))


def module_of(dotted: Sequence[str], least: int) -> Path | None:
    """Return the file of a dotted name, if more than ``least`` of its parts lead to one."""
    for end in range(len(dotted), least, -1):
        if (name := ".".join(dotted[:end])) in files():
            return files()[name]
    return None


def is_slow(test: Path) -> bool:
    """Return whether the quick tier runs no test of a file."""
    room = test.relative_to(TESTS).parts[0]
    return room in SLOW_ROOMS or bool(ALL_SLOW.search(test.read_text("utf-8")))


def likelihood(goals: Iterable[Path]) -> dict[Path, float]:
    """Return, for each test file, the probability that a walk from it reaches one of ``goals``."""
    known = dict.fromkeys(goals, 1.0)

    def from_here(path: Path) -> float:
        if path not in known:
            known[path] = 0.0  # A cycle may lead back to this file.
            ahead = [from_here(one) for one in leads_to(path)]
            known[path] = sum(ahead) / len(ahead) if ahead else 0.0
        return known[path]

    return {test: from_here(test) for test in sorted(TESTS.rglob("test_*.py"))}


def of_its_room(path: Path, test: Path) -> bool:
    """Return whether a test is in the folder that mirrors a source's folder, or has the source's
    name."""
    parts = [part.removesuffix(".py").removeprefix("callboard_") for part in path.parts]
    if path.parts[0] == "tests":
        return False
    if path.parts[0] == "hosts":
        return test.parent == TESTS / "hosts" and parts[1] in test.stem
    mirrored = next((TESTS / part for part in parts if (TESTS / part).is_dir()), None)
    return test.parent == mirrored or test.stem == f"test_{parts[-1]}"


def touched(changed: Sequence[Path]) -> dict[Path, str]:
    """Return the picked test files, each with the reason."""
    inside = [path.resolve().relative_to(PROJECT) for path in changed]
    likely = likelihood(PROJECT / path for path in inside)
    picked = {test: "changed" for test in likely if test.relative_to(PROJECT) in inside}
    likely = {test: each for test, each in likely.items() if not is_slow(test)}
    for test in likely:
        if any(of_its_room(path, test) for path in inside):
            picked.setdefault(test, "room")
    if any(path.is_relative_to(folder) for path in inside for folder in OF_SKILLS):
        picked.setdefault(COMPLIANCE, "skill")
    others = [test for test, each in likely.items() if each and test not in picked]
    others.sort(key=lambda test: -likely[test])
    picked |= dict.fromkeys(others[: max(0, MOST - len(picked))], "by import")
    return {**ALWAYS, **picked}


def differing(since: str) -> list[Path]:
    """Return the files that differ from a commit, and those that git doesn't track yet."""
    names = []
    for command in (
        ["git", "diff", "--name-only", "-z", since, "--"],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    ):
        names += subprocess.check_output(command, cwd=PROJECT, encoding="utf-8").split("\0")
    return [PROJECT / name for name in names if name]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Prints the test files that a change touches.")
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*")
    parser.add_argument("--since", metavar="REV", default="HEAD")
    asked = parser.parse_args(arguments)
    try:
        changed = asked.files or differing(asked.since)
    except subprocess.CalledProcessError as error:
        return error.returncode  # git has printed the reason.
    picked = touched(changed) if changed else {}
    reasons = Counter(picked.values())
    what = ", ".join(str(path.resolve().relative_to(PROJECT)) for path in changed[:3])
    what += f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    print(f"{len(picked)} test files for {what or 'no change'} ({why})", file=sys.stderr)
    print(*(test.relative_to(PROJECT) for test in picked), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
