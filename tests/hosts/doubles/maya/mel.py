"""``maya.mel``: only assignments from Maya's main window, sums, and the FBX plug-in's commands."""

from __future__ import annotations

import re

from ._session import session
from ._translators import fbx_command


def eval(code: str, /):
    session.guard("mel.eval")
    if fbx_command(code):
        return None
    if re.fullmatch(r"\$\w+ = \$gMainWindow;?", code):
        session.needs_windows("$gMainWindow")
        return "MayaWindow"
    sums = re.fullmatch(r"\s*(\d+)\s*\+\s*(\d+)\s*;?\s*", code)
    if sums is None:
        raise RuntimeError("Error occurred during execution of MEL script: Syntax error")
    return int(sums[1]) + int(sums[2])
