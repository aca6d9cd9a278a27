"""Makes ``breakpoint()`` in a tool open Python's debugger in callboard's or pytest's terminal."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

from callboard.calls import output

log = logging.getLogger(__name__)


def stop_here(*args: Any, **kwargs: Any) -> Any:
    """The function for ``sys.breakpointhook``. Call it from any thread.

    From then on the call's output goes to the terminal, because the debugger prints there too. If
    there is no terminal, the call continues and a warning is logged.
    """
    import pdb  # This import is only needed for debugging.

    frame = sys._getframe(1)
    chosen = os.environ.get("PYTHONBREAKPOINT")
    if chosen == "0":
        return None
    if chosen:
        output.release()
        return sys.__breakpointhook__(*args, **kwargs)
    replaced: Any = pdb.set_trace
    # This is pytest's own hook, which also turns off its capturing.
    if replaced.__module__ != pdb.__name__:
        output.release()
        return replaced(*args, skip=[__name__], **kwargs)
    if not _at_a_terminal():
        place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        log.warning(
            "breakpoint() at %s is skipped, because there is no terminal here; start `callboard "
            "serve` in a terminal, or use `serve --debugpy PORT` and attach an editor",
            place,
        )
        return None
    output.release()
    # Otherwise a Ctrl+C long after the debugger has continued would stop in the debugger again
    # instead of ending callboard.
    return pdb.Pdb(nosigint=True).set_trace(frame)


def _at_a_terminal() -> bool:
    # Applications replace stdin with streams of their own, or None.
    isatty = getattr(sys.stdin, "isatty", None)
    return isatty is not None and bool(isatty())


def untimed(call_output: output.Output) -> bool:
    """Return whether the call's time limit is off. It is off once the call has stopped at a
    breakpoint at the terminal, and for every call while an editor is attached to this process.

    A query to debugpy would load its debugger and block the loop of the watcher that calls this. So
    only a debugpy server that is already loaded is queried: no other server can have an editor
    attached.
    """
    connected = getattr(sys.modules.get("debugpy.server.api"), "is_client_connected", None)
    return call_output.released or (connected is not None and bool(connected()))
