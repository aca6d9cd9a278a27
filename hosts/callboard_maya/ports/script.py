"""The ``script.execute`` port: running the agent's code."""

from __future__ import annotations

from maya import cmds, mel

from callboard.host import run_python


class MayaScripts:
    def languages(self) -> list[str]:
        return ["python", "mel"]

    def execute(self, code: str, language: str) -> object:
        """Run the code. Python code can use ``cmds`` and ``mel`` without importing them. MEL's
        output goes to the Script Editor."""
        if language == "mel":
            result: object = mel.eval(code)
            return result
        return run_python(code, {"cmds": cmds, "mel": mel})
