"""Counts the application's names in the adapters of Maya, Houdini and 3ds Max, and puts wrong ones
into a copy of them.

    python benchmarks/adapter_names.py count
    python benchmarks/adapter_names.py mutate FOLDER [--host maya] [--count 50] [--seed 1]

The first form prints how many names, flags, tokens and properties ``test_adapter_names.py`` checks,
and how many of them each version's facts contain. The second form makes wrong names in a clone of
the last commit in FOLDER: half of them don't exist, and half are other names that the application
does have, such as another flag of the same command. For each it calls that file's tests here,
without pytest, and then runs the adapter's other quick tests until one fails. A second run of the
program continues where the first one ended.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutations import PROJECT, QUICK, Mistake, Run, known, shown

sys.path.insert(0, str(PROJECT / "tests" / "hosts"))

import test_adapter_names as names

KINDS = ("name", "flag", "property", "token")
#: Seconds for one run of tests.
LIMIT = 240


def sites(host: str) -> Iterator[tuple[str, str, int, str]]:
    """For each of the application's names in an adapter's code, yield its kind, its file, its
    offset in bytes, and its text. The text of a flag is ``command.flag``. The text of any other
    name begins with the names before it."""
    ours = names.own_words() | names.defined(host)
    theirs = names.known(host) | told_by(host)
    types, given = node_types(host), names_given(host)
    for where, tree in names.trees(host).items():
        source = (PROJECT / f"hosts/callboard_{host}/{where}").read_bytes()
        lines = [0, *(each.end() for each in re.finditer(rb"\n", source))]
        prose, modules = names.docstrings(tree), {*names.ROOTS[host]}
        others = {"self", *names.others(tree)} - modules
        keys = {
            id(key) for each in ast.walk(tree) if isinstance(each, ast.Dict) for key in each.keys
        }
        hints = annotations(tree)
        for node in ast.walk(tree):
            if id(node) in prose | hints or not hasattr(node, "end_lineno"):
                continue
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            match node:
                case ast.Attribute(attr=attr):
                    root = {*names.chain(node)[:1]}
                    if root & modules:
                        text = ".".join(names.chain(node)[1:])
                        yield "name", where, end - len(attr), text
                    elif not root & others and attr in theirs and attr not in ours:
                        yield "property", where, end - len(attr), attr
                case ast.Call() if command := names.called(host, node):
                    for each in node.keywords:
                        if each.arg:
                            at = lines[each.lineno - 1] + each.col_offset
                            yield "flag", where, at, f"{command}.{each.arg}"
                case ast.JoinedStr():
                    # Nodes' attributes, as in f"{node}.visibility".
                    for plug in re.finditer(rb"}\.(\w+)(?=[\"{.\[])", source[start:end]):
                        if (text := plug[1].decode()) in theirs:
                            yield "token", where, start + plug.start(1), text
                case ast.Constant(value=str(text)) if (
                    source[end - len(text) - 1 : end - 1] == text.encode()
                ):
                    is_key = id(node) in keys and text in ours | given
                    if (
                        text
                        and not is_key
                        and (text in types or (text in theirs and text not in ours))
                    ):
                        yield "token", where, end - len(text) - 1, text


def told_by(host: str) -> set[str]:
    """Return the names that belong to the application and have no source."""
    told = json.loads((names.HERE / "facts/unsourced.json").read_text("utf-8"))[host]
    no = ("names that callboard gives", "suffixes of files", "Python's")
    return {name for reason, words in told.items() if reason not in no for name in words.split()}


def names_given(host: str) -> set[str]:
    """Return the names in an adapter that callboard itself defines. As a dictionary's key, such a
    name is callboard's own, even if the application has it too."""
    told = json.loads((names.HERE / "facts/unsourced.json").read_text("utf-8"))[host]
    return {*told["names that callboard gives"].split()}


def annotations(tree: ast.Module) -> set[int]:
    """Return the nodes of type hints, which don't run."""
    hints = [
        hint
        for node in ast.walk(tree)
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if hint is not None
    ]
    return {id(each) for hint in hints for each in ast.walk(hint)}


def node_types(host: str) -> set[str]:
    told = names.facts(host)
    if host == "maya":
        return set(told["node_types"].split())
    return {each.partition("/")[2] for each in told["nodes"]} if host == "houdini" else set()


# -- counts ---------------------------------------------------------------------------------------


def versions(host: str) -> dict[str, Any]:
    """Return, for each version with facts, a function that checks whether they contain a name."""
    told = names.facts(host)
    if host == "max":
        every = {
            version: {*told[version], *" ".join(told[version].values()).split()}
            for version in ("2021", "later")
        }
        return {
            version: lambda _, text, of=of: _last(text).lower() in of
            for version, of in every.items()
        }
    if host == "houdini":
        return {
            version: lambda kind, text, version=version: _houdini_has(version, kind, text)
            for version in told["hom"]
        }
    return {
        version: lambda kind, text, version=version: _maya_has(version, kind, text)
        for version in told["versions"]
    }


def _last(text: str) -> str:
    return text.rpartition(".")[2]


def _maya_has(version: str, kind: str, text: str) -> bool:
    if kind != "flag":
        return _last(text) in names.known("maya")
    command, _, flag = text.partition(".")
    flags = names.facts("maya")["commands"].get(command, {})
    short = {one.split()[0]: one for one in flags.values()}
    told = (
        ""
        if flag in {*names._MODES, *names._MODES.values()}
        else flags.get(flag) or short.get(flag)
    )
    return told is not None and f"!{version}" not in told.split()


def _houdini_has(version: str, kind: str, text: str) -> bool:
    hom = names.facts("houdini")["hom"][version]
    in_hom = {*hom, *" ".join(hom.values()).split()}
    if kind == "flag":
        command, _, flag = text.partition(".")
        return flag in names.facts("houdini")["keywords"][version].get(command, "").split()
    return _last(text) in in_hom or (kind == "token" and text in names.known("houdini"))


def count() -> None:
    print("| adapter | kind | places | different | of which in | listed with a reason | unknown |")
    print("|---|---|--:|--:|---|--:|--:|")
    for host in names.HOSTS:
        places = defaultdict(list)
        for kind, _, _, text in sites(host):
            places[kind].append(text)
        for kind in KINDS:
            distinct, listed = {*places[kind]}, names.unsourced(host)
            if not distinct:
                continue
            of_each = {
                version: {text for text in distinct if has(kind, text)}
                for version, has in versions(host).items()
            }
            reasons = {
                text
                for text in distinct - set.intersection(*of_each.values())
                if listed & spellings(text)
            }
            unknown = distinct - set.union(*of_each.values()) - reasons
            figures = ", ".join(f"{version} {len(told)}" for version, told in of_each.items())
            row = (
                host,
                kind,
                len(places[kind]),
                len(distinct),
                figures,
                len(reasons),
                len(unknown),
            )
            print("|", " | ".join(map(str, row)), "|", *sorted(unknown))


def spellings(text: str) -> set[str]:
    """Return the spellings under which a name may be listed."""
    parts = text.split(".")
    both = {*parts, text, f"maya_utils.{text}", f"mel.{text}"}
    return both | {each.lower() for each in both}


# -- wrong names ----------------------------------------------------------------------------------


def planned(host: str, count: int, seed: int) -> list[Mistake]:
    """Draw names of each kind in turn. Every second one is replaced with a name that the
    application has, the others with names that don't exist."""
    chance = random.Random(f"{host} {seed}")
    by_kind: defaultdict[str, list[Any]] = defaultdict(list)
    for each in sites(host):
        by_kind[each[0]].append(each)
    drawn = {kind: chance.sample(places, len(places)) for kind, places in by_kind.items()}
    plan: list[Mistake] = []
    while len(plan) < count:
        kind = KINDS[len(plan) % len(KINDS)]
        if not drawn.get(kind):
            kind = max(drawn, key=lambda each: len(drawn[each]))
        _, where, start, text = drawn[kind].pop()
        old = _last(text) if kind != "token" else text
        real = len(plan) // len(KINDS) % 2 == 1
        new = another(host, kind, text, by_kind, chance) if real else misspelled(old, host, chance)
        if new is not None:
            path = f"hosts/callboard_{host}/{where}"
            line = (PROJECT / path).read_bytes()[:start].count(b"\n") + 1
            how = f"{kind}, {'another' if real else 'misspelled'}"
            plan.append(Mistake(path, line, how, start, start + len(old), old, new))
    return plan


def misspelled(word: str, host: str, chance: random.Random) -> str:
    """Return the word with one letter doubled, such that no application has that name."""
    everything = names.known(host) | names.unsourced(host) | names.own_words()
    while True:
        at = chance.randrange(len(word))
        wrong = word[:at] + word[at] + word[at:]
        if word[at].isalpha() and wrong not in everything and wrong.lower() not in everything:
            return wrong


def another(
    host: str, kind: str, text: str, places: dict[str, list[Any]], chance: random.Random
) -> str | None:
    """Return a different name of the same kind, or None if there is none."""
    told = names.facts(host)
    command, _, flag = text.rpartition(".")
    if kind == "flag":
        if host == "maya":
            choice = {*told["commands"].get(command, ())} - {flag, "query", "edit"}
        else:
            choice = {each[3].rpartition(".")[2] for each in places["flag"]} - {flag}
    elif menus := [
        menu
        for node in told.get("nodes", {}).values()
        for parm in node["parms"].values()
        if kind == "token" and text in (menu := parm.get("menu", ()))
    ]:
        choice = {*chance.choice(menus)} - {text, ""}
    elif text in node_types(host):
        choice = node_types(host) - {text}
    else:
        choice = {_last(each[3]) for each in places[kind]} - {_last(text)}
    return chance.choice(sorted(choice)) if choice else None


def mutate(folder: Path, hosts: list[str], count: int, seed: int) -> None:
    tree, plan_file, kept = folder / "tree", folder / "plan.json", folder / "outcomes.json"
    if not plan_file.exists():
        if subprocess.check_output(["git", "status", "--porcelain", "hosts"], cwd=PROJECT):
            raise SystemExit("commit the adapters first: the clone has only what is committed")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--shared", PROJECT, tree], check=True)
        plan = [each for host in hosts for each in planned(host, count, seed)]
        plan_file.write_text(json.dumps([asdict(each) for each in plan]), "utf-8")
    plan = [Mistake(**each) for each in json.loads(plan_file.read_text("utf-8"))]
    run, outcomes = Run(folder, tree, plan, LIMIT), known(kept)
    for number, mistake in enumerate(plan):
        if str(number) not in outcomes:
            outcomes[str(number)] = outcome(run, mistake)
            kept.write_text(json.dumps(outcomes, indent=1), "utf-8")
            print(
                number, mistake.path, mistake.old, mistake.new, *outcomes[str(number)], flush=True
            )
    table = shown(plan, outcomes)
    (folder / "table.md").write_text(table + "\n", "utf-8")
    print(table)
    counts = Counter(
        (plan[int(n)].path.split("/")[1], plan[int(n)].kind, o) for n, (o, _) in outcomes.items()
    )
    for (host, kind, what), number in sorted(counts.items()):
        print(f"{host}: {kind}: {number} {what}")


def outcome(run: Run, mistake: Mistake) -> list[str]:
    host = mistake.path.split("/")[1].removeprefix("callboard_")
    tests = run.tree / "tests" / "hosts"
    files = [str(each) for each in sorted(tests.glob(f"test_{host}*.py"))]
    several = [
        str(tests / f"test_{each}.py") for each in ("qt_plugins", "softness", "headless_hosts")
    ]
    chosen = {"houdini": "Houdini or houdini", "max": "Max or max", "maya": "Maya or maya"}[host]
    mistake.put(run.tree, mistake.new)
    failed = failing(run.tree, host, mistake.path)
    run.clean()
    if failed:
        return ["caught", failed]
    stages = (files, [*several, "-k", chosen])
    for stage in stages:
        mistake.put(run.tree, mistake.new)
        code, output = run.pytest("-x", "-m", QUICK, "-o", "timeout=60", *stage, seconds=LIMIT)
        run.clean()
        if code not in (0, 5):
            failures = [
                line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))
            ]
            return ["caught", (failures or output.splitlines() or ["took too long"])[0][:110]]
    return ["missed", f"{1 + len(stages)} runs of tests"]


def failing(tree: Path, host: str, path: str) -> str:
    """Return the name of the first test in ``names`` that fails when ``path`` has the given tree's
    code, or an empty string."""
    trees, where = names.trees(host), path.partition("/callboard_")[2].partition("/")[2]
    right = trees[where]
    trees[where] = ast.parse((tree / path).read_text("utf-8"))
    names.defined.cache_clear()
    try:
        for name, test in vars(names).items():
            if name.startswith("test_"):
                try:
                    test(*([host] if inspect.signature(test).parameters else []))
                except AssertionError:
                    return name
    finally:
        trees[where] = right
        names.defined.cache_clear()
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ways = parser.add_subparsers(dest="way", required=True)
    ways.add_parser("count")
    mutating = ways.add_parser("mutate")
    mutating.add_argument("folder", type=Path)
    mutating.add_argument("--host", choices=names.HOSTS, action="append")
    mutating.add_argument("--count", type=int, default=50, help="wrong names for each adapter")
    mutating.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.way == "count":
        count()
    else:
        hosts = asked.host or list(names.HOSTS)
        mutate(asked.folder.resolve(), hosts, asked.count, asked.seed)


if __name__ == "__main__":
    main()
