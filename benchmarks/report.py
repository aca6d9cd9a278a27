"""Makes tables of ``run.py``'s measurements, with medians over the rounds, ratios and targets."""

from __future__ import annotations

import platform
from os import cpu_count
from statistics import median

#: The values of each contender's figures, one for each round.
Results = dict[str, dict[str, list[float]]]

CALLBOARD = "callboard"
_ABSOLUTE = (
    "1 median ms",
    "1 p99 ms",
    "1 calls/s",
    "16 calls/s",
    "64 calls/s",
    "1 CPU us",
    "16 CPU us",
    "start ms",
    "start MiB",
    "loaded MiB",
)
_AIMS = (
    ("1 median ms", "dcc-mcp-core, main thread", "at most", 0.8),
    ("1 median ms", "fastmcp, default", "at most", 0.25),
    ("16 calls/s", "dcc-mcp-core, main thread", "at least", 1.0),
    ("start ms", None, "below", 150.0),
    ("start MiB", None, "below", 20.0),
)


def markdown(results: Results, system: str) -> str:
    """Return the tables as Markdown. The targets apply to Linux."""
    names = list(results)
    figures = [figure for figure in _ABSOLUTE if figure in results[CALLBOARD]]
    lines = [
        f"{system} {platform.machine()}, {cpu_count()} CPUs, "
        f"Python {platform.python_version()}; medians over the rounds, best round in brackets.",
        "",
        "| | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for figure in figures:
        cells = [_shown(results[name][figure], figure) for name in names]
        lines.append(f"| {_titled(figure)} | " + " | ".join(cells) + " |")
    lines += ["", f"Ratios, {CALLBOARD} to the other, median of the rounds' own ratios:", ""]
    others = names[1:]
    lines += ["| | " + " | ".join(others) + " |", "|---" * len(names) + "|"]
    for figure in figures:
        cells = [f"{ratio(results, figure, other):.2f}" for other in others]
        lines.append(f"| {_titled(figure)} | " + " | ".join(cells) + " |")
    if system != "Linux":
        return "\n".join(lines) + "\n"
    lines += ["", "| aim | found | |", "|---|---|---|"]
    for figure, other, relation, limit in _AIMS:
        if other and other not in results:
            continue
        figure_now = ratio(results, figure, other) if other else median(results[CALLBOARD][figure])
        met = figure_now >= limit if relation == "at least" else figure_now <= limit
        against = f" × {other}" if other else ""
        aim = f"{_titled(figure)}: {relation} {limit:g}{against}"
        lines.append(f"| {aim} | {figure_now:.2f} | {'met' if met else 'missed'} |")
    return "\n".join(lines) + "\n"


def ratio(results: Results, figure: str, other: str) -> float:
    """Return the median of callboard's figure divided by the other's in each round, so that slow
    drifts cancel out."""
    pairs = zip(results[CALLBOARD][figure], results[other][figure], strict=True)
    return median(ours / theirs for ours, theirs in pairs)


def _titled(figure: str) -> str:
    connections, _, rest = figure.partition(" ")
    if not connections.isdigit():
        return {"start": f"at start, {rest}", "loaded": f"after load, {rest}"}[connections]
    return f"{rest}, {connections} connection{'' if connections == '1' else 's'}"


def _shown(values: list[float], figure: str) -> str:
    best = max(values) if figure.endswith("calls/s") else min(values)
    digits = 2 if figure.endswith(("median ms", "p99 ms")) else 0
    return f"{median(values):,.{digits}f} ({best:,.{digits}f})"
