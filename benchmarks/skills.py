"""The cost of hundreds of skills, compared with dcc-mcp-core's loader: discovery, lists, search,
memory.

    python benchmarks/skills.py [--reference PYTHON] [--starts 5] [--json FILE]

Writes 300 skills with 2,000 tools and 500 prompts into a temporary folder and reads them in fresh
processes. By then, the files are in the system's cache. ``--reference`` is the interpreter of an
environment with dcc-mcp-core installed. Times are medians over the starts, in milliseconds. Memory
is the process's growth, in MiB (Linux).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

SKILLS, TOOLS, PROMPTS = 300, 2000, 500
#: The targets for a start, as measured below.
GOALS = {
    "discovery, cold": 1500.0,
    "discovery, warm": 150.0,
    # With this many skills, a host lists only those that ship. Agents load the other skills when
    # they need them.
    "tools/list, what is loaded at start": 5.0,
    "skills__search": 10.0,
    "memory, MiB": 40.0,
}
_VERBS = ("create", "bevel", "export", "list", "bake", "rename", "check", "align", "split", "merge")
_NOUNS = ("mesh", "curve", "light", "camera", "texture", "rig", "cache", "shot", "material", "uv")


def write_tree(folder: Path) -> None:
    """Write 300 skills, similar in size to those that studios publish."""
    for number in range(SKILLS):
        skill = folder / f"skill-{number:03}"
        (skill / "scripts").mkdir(parents=True)
        tools = range(number, TOOLS, SKILLS)
        prompts = range(number, PROMPTS, SKILLS)
        (skill / "SKILL.md").write_text(_skill(number), encoding="utf-8")
        (skill / "tools.yaml").write_text("tools:\n" + "".join(map(_tool, tools)))
        (skill / "prompts.yaml").write_text("prompts:\n" + "".join(map(_prompt, prompts)))
        for tool in tools:
            script = f"def main(name, amount=1.0):\n    return {{'did': {tool}}}\n"
            (skill / "scripts" / f"{_tool_name(tool)}.py").write_text(script)


def _tool_name(number: int) -> str:
    return f"{_VERBS[number % 10]}_{_NOUNS[number // 10 % 10]}_{number}"


def _skill(number: int) -> str:
    verb, noun = _VERBS[number % 10], _NOUNS[number // 10 % 10]
    return (
        f"---\nname: skill-{number:03}\n"
        f"description: Skill number {number}, to {verb} a {noun} and to look at what came of it.\n"
        f"metadata:\n  dcc-mcp:\n    dcc: python\n    version: '1.{number}'\n"
        f"    tags: [{verb}, {noun}]\n    search-hint: {verb} {noun}, {noun} tools\n"
        "    tools: tools.yaml\n    prompts: prompts.yaml\n---\n"
        f"# Skill {number}\n\nHow to use it.\n"
    )


def _tool(number: int) -> str:
    verb, noun = _VERBS[number % 10], _NOUNS[number // 10 % 10]
    return (
        f"- name: {_tool_name(number)}\n"
        f"  description: Takes a {noun} by its name and will {verb} it by an amount.\n"
        "  required_capabilities: [scene.read, scene.mutate]\n"
        "  annotations: {destructive_hint: false}\n"
        "  input_schema:\n    type: object\n    required: [name]\n    properties:\n"
        "      name: {type: string, description: What to work on}\n"
        "      amount: {type: number, minimum: 0, description: How much}\n"
    )


def _prompt(number: int) -> str:
    return (
        f"- name: prompt_{number}\n  description: How to do number {number}.\n"
        "  arguments: [{name: what, required: true}, {name: how, default: well}]\n"
        "  template: |\n    Do {{what}} {{how}}, and say what you did.\n"
    )


# -- in a fresh process ---------------------------------------------------------------------------


def resident() -> float:
    """Return this process's resident memory in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def timed(work: Callable[[], Any], times: int = 1) -> float:
    """Return the median of several runs in milliseconds."""
    latencies = []
    for _ in range(times):
        began = perf_counter()
        work()
        latencies.append((perf_counter() - began) * 1000)
    return statistics.median(latencies)


def measure(tree: Path, cache: Path | None) -> dict[str, float]:
    """Measure cold discovery, or warm discovery if ``cache`` is given."""
    from callboard.skills.catalog import SkillCatalog

    before = resident()
    catalog = SkillCatalog([(tree, "user")], "openusd", cache)
    figures = {"discovery": timed(catalog.refresh)}
    assert len(catalog.known) == SKILLS
    assert sum(len(known.skill.tools) for known in catalog.known) == TOOLS
    figures["memory"] = resident() - before
    return figures


def measure_served(tree: Path) -> dict[str, float]:
    """Measure a whole server: its lists at startup, its lists with everything loaded, and
    search."""
    from callboard.app import Callboard
    from callboard.config import McpHttpConfig
    from callboard.protocol.jsonrpc import encode
    from callboard.protocol.peer import ClientInfo, Peer
    from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
    from callboard.rest.endpoint import RestRequest
    from callboard_testing.fake_host import FakeHost

    app = Callboard(FakeHost(), McpHttpConfig(announce=False, records=False, skill_paths=[tree]))
    app.start()
    peer = Peer("benchmark", NEWEST_WITH_SESSIONS, ClientInfo(), {})

    def ask(method: str) -> bytes:
        request = RestRequest(peer, 1, method, {})
        return encode(asyncio.run(app.service.handle(request)))

    try:
        figures = {"tools/list, what is loaded at start": timed(lambda: ask("tools/list"), 50)}
        figures["skills__search, the first"] = timed(lambda: app.catalog.search("bevel a mesh", 10))
        words = iter([f"{verb} {noun}" for verb in _VERBS for noun in _NOUNS])
        figures["skills__search"] = timed(lambda: app.catalog.search(next(words), 10), 100)
        before = resident()
        names = [known.skill.name for known in app.catalog.known if not known.loaded]
        figures["loading all"] = timed(lambda: app.catalog.load(*names))
        assert len(app.tools) > TOOLS
        figures["tools/list, a page of 500, all loaded"] = timed(lambda: ask("tools/list"), 50)
        figures["prompts/list, 500, the first"] = timed(lambda: ask("prompts/list"))
        figures["prompts/list, 500"] = timed(lambda: ask("prompts/list"), 20)
        figures["memory of tools and prompts"] = resident() - before
    finally:
        app.stop()
    return figures


REFERENCE = """
import json, sys
from pathlib import Path
from time import perf_counter

def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024

import dcc_mcp_core
before, began = resident(), perf_counter()
skills, skipped = dcc_mcp_core.scan_and_load(extra_paths=[sys.argv[1]], dcc_name="python")
seconds = perf_counter() - began
tools = sum(len(skill.tools) for skill in skills)
print(json.dumps({"discovery": seconds * 1000, "memory": resident() - before,
                  "skills": len(skills), "tools": tools, "version": dcc_mcp_core.__version__}))
"""


# -- all figures ----------------------------------------------------------------------------------


def fresh(command: list[str], home: Path) -> dict[str, Any]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith("SKILL_PATHS")}
    environment = {**kept, "CALLBOARD_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    if command[0] != sys.executable:
        del environment["PYTHONPATH"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def median(runs: list[dict[str, Any]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def compare(starts: int, reference: str | None) -> dict[str, Any]:
    """Return every figure. Cold, warm and reference runs alternate, so all are measured under the
    same conditions."""
    with tempfile.TemporaryDirectory(prefix="callboard-skills-") as folder:
        tree, home, cache = Path(folder, "tree"), Path(folder, "home"), Path(folder, "cache.json")
        write_tree(tree)
        own = [sys.executable, __file__, "--measure"]
        fresh([*own, "warm", str(tree), str(cache)], home)
        runs: dict[str, list[dict[str, Any]]] = {k: [] for k in ("cold", "warm", "served", "ref")}
        for _ in range(starts):
            runs["cold"].append(fresh([*own, "cold", str(tree)], home))
            runs["warm"].append(fresh([*own, "warm", str(tree), str(cache)], home))
            runs["served"].append(fresh([*own, "served", str(tree)], home))
            if reference is not None:
                runs["ref"].append(fresh([reference, "-c", REFERENCE, str(tree)], home))
    figures: dict[str, Any] = {
        "discovery, cold": median(runs["cold"], "discovery"),
        "discovery, warm": median(runs["warm"], "discovery"),
        "memory of discovery, MiB": median(runs["cold"], "memory"),
        **{key: median(runs["served"], key) for key in runs["served"][0]},
    }
    figures["memory, MiB"] = (
        figures["memory of discovery, MiB"] + figures["memory of tools and prompts"]
    )
    if runs["ref"]:
        one = runs["ref"][0]
        figures[f"dcc-mcp-core {one['version']}, discovery"] = median(runs["ref"], "discovery")
        figures[f"dcc-mcp-core {one['version']}, memory, MiB"] = median(runs["ref"], "memory")
        figures[f"dcc-mcp-core {one['version']}, tools found"] = one["tools"]
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", metavar="PYTHON", help="an interpreter with dcc-mcp-core")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        kind, tree, *cache = arguments.measure
        if kind == "served":
            figures = measure_served(Path(tree))
        else:
            figures = measure(Path(tree), Path(cache[0]) if cache else None)
        print(json.dumps(figures))
        return 0
    figures = compare(arguments.starts, arguments.reference)
    for name, value in figures.items():
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"  (goal {goal:g}{'' if value < goal else ': MISSED'})"
        print(f"{name:<44} {value:10.2f}{verdict}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if all(figures[name] < goal for name, goal in GOALS.items()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
