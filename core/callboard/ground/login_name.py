"""The user of this process, as reported by the operating system."""

from __future__ import annotations

import os
import sys
from functools import cache


@cache
def login_name() -> str:
    """Return the name of the user that this process runs as, whatever the environment says, or the
    user's number if the user has no name."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
