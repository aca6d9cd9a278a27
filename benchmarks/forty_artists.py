"""A week of work by forty artists, and one report on it: measures how long the report takes, and
checks that it counts every call once and contains no secret.

Each artist has a separate home with the records of five days. The last ten artists' records are in
files of JSON lines, as the setting ``records_to`` makes them.

    python benchmarks/forty_artists.py [--artists 40] [--calls 500]
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, time

from callboard.records.model import CallRecord
from callboard.records.sinks import json_of
from callboard.records.store import Store

SECRET = "sk-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
TOOLS = [f"{skill}__{verb}" for skill in ("scene", "materials", "render", "usd", "lights", "check")
         for verb in ("list", "get", "set", "create", "delete")]  # fmt: skip
CLIENTS = ("claude-code", "cursor", "pipeline", "local")
OUTCOMES = ("ok",) * 18 + ("error", "refused")
DAYS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artists", type=int, default=40)
    parser.add_argument("--calls", type=int, default=500, help="calls per artist per day")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = [
            written(Path(folder), number, arguments.calls, lines=number >= arguments.artists - 10)
            for number in range(arguments.artists)
        ]
        began = perf_counter()
        command = [sys.executable, "-m", "callboard", "report", "--json", "--from", *sources]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds = perf_counter() - began
    report = json.loads(answer)
    made = arguments.artists * arguments.calls * DAYS
    figures = {
        "artists": len(report["byUser"]),
        "workstations": len(report["byWorkstation"]),
        "clients": len(report["byClient"]),
        "tools": len(report["byTool"]),
        "calls made": made,
        "calls counted": report["calls"],
        "report, s": round(seconds, 2),
        "secrets in it": answer.count(SECRET[3:]),
    }
    print(json.dumps(figures, indent=1))
    return 0 if report["calls"] == made and not figures["secrets in it"] else 1


def written(folder: Path, number: int, calls: int, *, lines: bool) -> str:
    """Write the records of one artist's week, and return the path or address to read them from."""
    chance = random.Random(number)
    records = [record(number, day, chance) for day in range(DAYS) for _ in range(calls)]
    home = folder / f"artist{number}"
    if lines:
        home.mkdir()
        (home / "calls.jsonl").write_text("".join(f"{json_of(one)}\n" for one in records))
        return str(home / "calls.jsonl")
    store = Store(home / "records")
    store.open()
    for one in records:
        store.record(one)
    if not store.flush(60):
        raise SystemExit(f"the records aren't kept: {store.degraded}")
    store.close()
    return str(home)


def record(number: int, day: int, chance: random.Random) -> CallRecord:
    outcome = chance.choice(OUTCOMES)
    tool = chance.choice(TOOLS)
    return CallRecord(
        call_id=f"{chance.getrandbits(128):032x}",
        started=time() - (DAYS - day) * 86_400 + chance.random() * 30_000,
        duration_ms=chance.expovariate(1 / 40),
        tool=SECRET if outcome == "error" and chance.random() < 0.1 else tool,
        outcome=outcome,
        arguments={"name": f"object {chance.randrange(1000)}", "token": SECRET},
        error_message=f"unknown tool '{SECRET}'" if outcome == "error" else None,
        client_name=f"agent with {SECRET}",
        session=f"{chance.randrange(8):016x}",
        host="blender",
        client=chance.choice(CLIENTS),
        user=f"artist{number}",
        machine=f"ws{number:02}",
        app="Blender 5.2.2",
        scene=f"/shows/film/sh{chance.randrange(90):03}.blend",
        project="film",
    )


if __name__ == "__main__":
    raise SystemExit(main())
