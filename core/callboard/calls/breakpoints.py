"""``breakpoint()`` in a tool: Python's debugger at the terminal of callboard or pytest."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

from callboard.calls import output

log = logging.getLogger(__name__)


def stop_here(*args: Any, **kwargs: Any) -> Any:
    """For ``sys.breakpointhook``. What the call prints goes to the terminal from here on, since the
    debugger prints there too. Without a terminal it goes on, and the log says so. Any thread."""
    import pdb  # for who debugs

    frame = sys._getframe(1)
    chosen = os.environ.get("PYTHONBREAKPOINT")
    if chosen == "0":
        return None
    if chosen:
        output.release()
        return sys.__breakpointhook__(*args, **kwargs)
    replaced: Any = pdb.set_trace
    if replaced.__module__ != pdb.__name__:  # pytest's, which takes its capturing off as well
        output.release()
        return replaced(*args, skip=[__name__], **kwargs)
    if not _at_a_terminal():
        place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        log.warning(
            "breakpoint() at %s is passed over, since nobody sits at a terminal here: start "
            "`callboard serve` in one, or `serve --debugpy PORT` and attach an editor",
            place,
        )
        return None
    output.release()
    # Or a Ctrl+C, long after the debugger went on, would stop again instead of ending callboard.
    return pdb.Pdb(nosigint=True).set_trace(frame)


def _at_a_terminal() -> bool:
    # Applications put streams of their own there, or None.
    isatty = getattr(sys.stdin, "isatty", None)
    return isatty is not None and bool(isatty())


def held(call_output: output.Output) -> bool:
    """Whether somebody looks into that call with a debugger, so that its time doesn't count: at the
    terminal, or in an editor that is attached to this process.

    debugpy loads its debugger when it is asked, which a watcher that holds the loop must not do:
    only a server of debugpy's that is there already can have an editor.
    """
    connected = getattr(sys.modules.get("debugpy.server.api"), "is_client_connected", None)
    return call_output.released or (connected is not None and bool(connected()))
