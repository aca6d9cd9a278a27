"""3ds Max runs this once its windows are there."""

import logging
import sys
from pathlib import Path


def _load() -> None:
    # 3ds Max may drop what the environment says of Python's paths. At the end, so that nothing of
    # ours comes before another plug-in's modules.
    ours = str(Path(__file__).resolve().parents[1] / "python")
    if ours not in sys.path:
        sys.path.append(ours)
    try:
        from callboard_max.plugin import plug_in

        plug_in.load()
    except Exception:
        # 3ds Max's start goes on.
        logging.getLogger("callboard").exception("Callboard could not start")


_load()
