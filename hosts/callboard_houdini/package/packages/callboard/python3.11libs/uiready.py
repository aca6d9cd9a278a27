"""Start Callboard once Houdini's windows are open. Houdini runs the ``uiready.py`` of every
package."""

import logging


def _load() -> None:
    try:
        from callboard_houdini.plugin import plug_in

        plug_in.load()
    except Exception:
        # A failure must not stop Houdini's start or the other packages' files.
        logging.getLogger("callboard").exception("Callboard could not start")


_load()
