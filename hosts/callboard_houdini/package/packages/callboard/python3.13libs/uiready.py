"""Start Callboard once Houdini's windows are open. Houdini runs the ``uiready.py`` of every
package."""

import logging


def _load() -> None:
    try:
        from callboard_houdini.plugin import plug_in

        plug_in.load()
    except Exception:
        # A failure must not keep Houdini from starting, or the other packages' files from running.
        logging.getLogger("callboard").exception("Callboard could not start")


_load()
