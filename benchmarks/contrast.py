"""The lowest contrast of any text in the panel, by theme, measured in pictures of the panel.

    QT_QPA_PLATFORM=offscreen python benchmarks/contrast.py

The first rows are FreeCAD's own themes in its real window. The others are palettes of applications
that can't run here, in Qt's own style. WCAG 2.2 requires 4.5. Needs the extra ``ui``; FreeCAD's
rows need FreeCAD, Xvfb and xdotool.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from qtpy.QtWidgets import QApplication

PROJECT = Path(__file__).resolve().parent.parent
for source in ("core", "hosts", "ui", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_ui import make_panel  # noqa: E402
from callboard_ui.theme import LEGIBLE  # noqa: E402
from hosts.blender_gui_rig import screen  # noqa: E402
from hosts.freecad_rig import THEMES, freecad  # noqa: E402
from needed import missing  # noqa: E402
from serving import served  # noqa: E402
from ui.legible_text import HOSTS, least, palette  # noqa: E402

Row = tuple[str, list[tuple[float, str]]]
#: Seconds for which the panel is shown before its text is measured.
SHOWN = 2.0


def in_freecad(folder: Path) -> Iterator[Row]:
    with screen() as display, freecad(folder / "home", display) as app:
        app.serve()
        app.new_document()
        for theme in ["no theme", *sorted(path.stem for path in THEMES.glob("*.qss"))]:
            path = THEMES / f"{theme}.qss"
            sheet = path.read_text("utf-8") if path.is_file() else ""
            app.run(f"QtWidgets.QApplication.instance().setStyleSheet({sheet!r})")
            yield f"FreeCAD, {theme}", app.run("answer = least(panel)")


def on_palettes() -> Iterator[Row]:
    application = QApplication.instance() or QApplication([])
    application.setStyle("Fusion")
    for name, colors in HOSTS.items():
        application.setPalette(palette(colors))
        with served() as server:
            panel = make_panel(server.app)
            panel.resize(420, 640)
            panel.show()
            end = time.monotonic() + SHOWN
            while time.monotonic() < end:
                application.processEvents()
            yield f"palette: {name}", least(panel)
            panel.shut()
            panel.deleteLater()
            application.processEvents()


def main() -> int:
    lowest = 21.0
    print("| theme | lowest contrast | texts |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CALLBOARD_HOME"] = folder
        reasons = [*filter(None, map(missing, ("freecad", "Xvfb", "xdotool")))]
        rows = [] if reasons else [in_freecad(Path(folder))]
        for theme, texts in (row for each in [*rows, on_palettes()] for row in each):
            lowest = min(lowest, texts[0][0])
            print(f"| {theme} | {texts[0][0]:.1f} | {len(texts)} |", flush=True)
    print(*reasons, sep="\n", file=sys.stderr)
    return 0 if lowest >= LEGIBLE else 1


if __name__ == "__main__":
    sys.exit(main())
