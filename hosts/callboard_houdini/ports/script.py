"""The ``script.execute`` port: running the agent's code."""

from __future__ import annotations

import hou

from callboard.errors import HostError
from callboard.host import run_python


class HoudiniScripts:
    def languages(self) -> list[str]:
        return ["python", "hscript"]

    def execute(self, code: str, language: str) -> object:
        """Run the code. Python code can use ``hou`` without importing it. The value of HScript code
        is None, and its output is printed."""
        if language != "hscript":
            return run_python(code, {"hou": hou})
        output, errors = hou.hscript(code)[:2]
        if output:
            print(output, end="" if output.endswith("\n") else "\n")
        if errors.strip():
            raise HostError(f"HScript: {errors.strip()}")
        return None
