"""Updates the table of project figures in CONTRIBUTING.md.

    python benchmarks/house_table.py [--quick SECONDS] [--ci SECONDS] [--archives MB]

This program itself measures the lines, tests, crossings and modules at startup, which takes about a
minute. The times come from a quiet machine with two processors. They are passed as options, because
each takes a separate run. If an option is left out, its row stays as it is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "CONTRIBUTING.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
START = (
    "import sys; import callboard.app; "
    "print(sum(name.partition('.')[0] == 'callboard' for name in sys.modules))"
)


def lines() -> int:
    roots = ("core", "hosts", "ui")
    files = [file for root in roots for file in (PROJECT / root).rglob("*.py")]
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def printed(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return done.stdout


def measured() -> dict[str, str]:
    """Return each row's name and its figure."""
    collected = printed("-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    (tests,) = re.findall(r"^(\d+) tests collected", collected, re.MULTILINE)
    rows = {
        "lines of Python in core, hosts and ui": f"{lines():,}",
        "tests that one Python collects": f"{int(tests):,}",
        "our own modules that a server's start imports": printed("-c", START).strip(),
    }
    for row in printed("benchmarks/crossings.py").splitlines()[2:]:
        kind, modules, switches, calls = (cell.strip() for cell in row.strip("|").split("|"))
        rows[f"{kind}: modules / switches / calls"] = f"{modules} / {switches} / {calls}"
    return rows


def renew(now: dict[str, str]) -> None:
    """Write the last column. A row that the table doesn't have yet is added without a "before"."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    table, after = rest.split(END)
    rows = [[cell.strip() for cell in row.strip("|\n").split("|")] for row in table.splitlines()]
    known = {row[0]: row for row in rows[2:]}
    for name, figure in now.items():
        known.setdefault(name, [name, "", ""])[2] = figure
    body = "".join("| " + " | ".join(row) + " |\n" for row in known.values())
    head = "".join(f"{row}\n" for row in table.splitlines()[:2])
    PAGE.write_text(before + BEGIN + head + body + END + after, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", type=int, help="seconds of `bootstrap.py test`")
    parser.add_argument("--ci", type=int, help="seconds of `.ci/run`")
    parser.add_argument("--archives", help="the hosts' archives in megabytes, from build.py")
    given = parser.parse_args()
    rows = measured()
    for name, value in (
        ("quick tests, seconds", given.quick),
        ("`.ci/run`, seconds", given.ci),
        ("archives of Blender / Maya / Houdini / 3ds Max, MB", given.archives),
    ):
        if value is not None:
            rows[name] = f"{value:,}" if isinstance(value, int) else value
    renew(rows)


if __name__ == "__main__":
    main()
