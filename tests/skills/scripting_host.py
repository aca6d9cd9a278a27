"""A fake host that runs Python code, in which ``scene`` is the host's scene."""

from __future__ import annotations

from callboard.host_kit.script_code import run_python
from callboard_testing.fake_host import FakeHost


class RunningPython:
    """The fake host's port ``script.execute``."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host

    def languages(self) -> list[str]:
        return ["python"]

    def execute(self, code: str, language: str) -> object:
        return run_python(code, {"scene": self._host.scene})


class ScriptingHost(FakeHost):
    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, "script.execute": RunningPython(self)})
