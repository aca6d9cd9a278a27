"""The ``script.execute`` port: running the agent's code."""

from __future__ import annotations

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import run_python


class MaxScripts:
    def languages(self) -> list[str]:
        return ["python", "maxscript"]

    def execute(self, code: str, language: str) -> object:
        """Run the code. Python code can use ``pymxs`` and ``rt`` without importing them.
        MAXScript's output goes to the Listener."""
        if language != "maxscript":
            return run_python(code, {"pymxs": pymxs, "rt": rt})
        try:
            result: object = rt.execute(code)
        except RuntimeError as error:
            raise HostError(f"MAXScript: {error}") from None
        return result
