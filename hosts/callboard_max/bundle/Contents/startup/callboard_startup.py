"""Start Callboard once 3ds Max's windows are open. 3ds Max runs this file."""

import logging
import sys
from pathlib import Path


def _load() -> None:
    # 3ds Max may drop the environment's Python paths. Ours goes at the end, so that it doesn't
    # hide another plug-in's modules.
    ours = str(Path(__file__).resolve().parents[1] / "python")
    if ours not in sys.path:
        sys.path.append(ours)
    try:
        from callboard_max.plugin import plug_in

        plug_in.load()
    except Exception:
        # A failure must not keep 3ds Max from starting.
        logging.getLogger("callboard").exception("Callboard could not start")


_load()
