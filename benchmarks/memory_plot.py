"""Plots the measurements of ``blender_window.py memory`` with callboard and without.

    python benchmarks/memory_plot.py WITH.csv WITHOUT.csv PICTURE.svg

The picture shows the growth since the fifth minute: of the whole process, and of the memory that
Blender itself reports as allocated. Prints a table of each run's growth per change, and of what was
left after each step that frees memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: Seconds until the window has drawn everything once.
SETTLED = 300.0
#: The columns that are drawn, each with its name.
DRAWN = {1: "the process", 2: "Blender's own count"}
COLORS = {"with callboard": "#c33", "without callboard": "#36c"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 320, 44, 20, 20, 44


def read(path: str) -> tuple[list[list[float]], dict[str, list[float]]]:
    """Return the lines of the run, and those after each step that frees memory."""
    rows: list[list[float]] = []
    freed: dict[str, list[float]] = {}
    after = ""
    for line in Path(path).read_text("utf-8").splitlines():
        if line[:1].isdigit():
            row = [float(cell) for cell in line.split(",")]
            if after:
                freed[after] = row
            else:
                rows.append(row)
        elif line.startswith("# ") and rows and not line[2:].strip()[:1].isdigit():
            after = line[2:]
    return rows, freed


def slope(rows: list[list[float]], column: int) -> float:
    """Return the growth per change, in KiB, from a line fitted through all of the rows."""
    x, y = [row[-1] for row in rows], [row[column] * 1024 for row in rows]
    middle, level = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - middle) * (b - level) for a, b in zip(x, y, strict=True))
    return over / sum((a - middle) ** 2 for a in x)


def drawn(runs: dict[str, list[list[float]]]) -> str:
    """Return the picture."""
    seconds = max(rows[-1][0] for rows in runs.values())
    most = max(row[1] - rows[0][1] for rows in runs.values() for row in rows)
    step = 20 if most < 100 else 40
    top = (int(most) // step + 1) * step

    def place(row: list[float], first: list[float], column: int) -> str:
        x = LEFT + (row[0] - SETTLED) / (seconds - SETTLED) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (row[column] - first[column]) / top * (HEIGHT - TOP - BOTTOM)
        return f"{x:.1f},{y:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for level in range(0, top + 1, step):
        y = HEIGHT - BOTTOM - level / top * (HEIGHT - TOP - BOTTOM)
        parts.append(
            f'<path d="M{LEFT} {y:.0f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{level}</text>'
        )
    for minute in range(int(SETTLED) // 60, int(seconds) // 60 + 1, 5):
        x = LEFT + (minute * 60 - SETTLED) / (seconds - SETTLED) * (WIDTH - LEFT - RIGHT)
        parts.append(f'<text x="{x:.0f}" y="{HEIGHT - 26}" text-anchor="middle">{minute}</text>')
    for line, (name, rows) in enumerate(runs.items()):
        for column, what in DRAWN.items():
            dashes = ' stroke-dasharray="5 4"' if column == 2 else ""
            points = " ".join(place(row, rows[0], column) for row in rows)
            style = f'fill="none" stroke="{COLORS[name]}" stroke-width="2"{dashes}'
            y = TOP + 14 + 16 * (2 * line + column - 1)
            parts.append(f'<polyline {style} points="{points}"/>')
            parts.append(f'<path d="M{LEFT + 12} {y - 4}h28" {style}/>')
            parts.append(f'<text x="{LEFT + 48}" y="{y}">{what}, {name}</text>')
    parts.append(
        f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        "minutes; MiB more than after the fifth</text></svg>"
    )
    return "\n".join(parts) + "\n"


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    runs = {}
    print("| | minutes | changes | process: start, end, KiB a change | Blender: the same |")
    print("|---|--:|--:|--:|--:|")
    for name, path in zip(COLORS, sys.argv[1:3], strict=True):
        rows, freed = read(path)
        runs[name] = [row for row in rows if row[0] >= SETTLED]
        cells = [name, f"{rows[-1][0] / 60:.0f}", f"{rows[-1][-1]:.0f}"]
        for column in DRAWN:
            grown = slope(runs[name], column)
            cells.append(f"{rows[0][column]:.0f}, {rows[-1][column]:.0f}, {grown:.1f}")
        print("|", " | ".join(cells), "|")
        for what, row in freed.items():
            print(f"|   {what} | | | {row[1]:.0f} | {row[2]:.0f} |")
    Path(sys.argv[3]).write_text(drawn(runs), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
