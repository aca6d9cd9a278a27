"""Start Callboard once Houdini's windows are there. Houdini runs this file, and every other
package's."""

import logging


def _load() -> None:
    try:
        from callboard_houdini.plugin import plug_in

        plug_in.load()
    except Exception:
        # Let the other packages' files and Houdini's start go on.
        logging.getLogger("callboard").exception("Callboard could not start")


_load()
