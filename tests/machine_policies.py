"""A machine's policy for tests. A real policy has a fixed path, so this module changes that path in
the test's own process, and in the programs that it starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from callboard.ground import machine_policy

#: The code that Python runs first in a program that a test starts, and in that program's children.
_FIRST = """
import os
from callboard.ground import machine_policy
machine_policy._BASE, machine_policy._ADMINISTRATOR = {base!r}, os.getuid()
"""


class MachinePolicy:
    """The policy below ``base``, which stands for ``/``."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.file = base.joinpath(*machine_policy._PARTS, machine_policy.FILE)
        self.file.parent.mkdir(mode=0o755, parents=True)

    def write(self, text: str) -> None:
        """Write the policy as an administrator should: atomically, by renaming a finished file."""
        new = self.file.with_name("new")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o644)
        new.replace(self.file)

    def environment(self) -> dict[str, str]:
        """Return the environment of a program on a machine with this policy."""
        first = self.base / "first"
        first.mkdir(exist_ok=True)
        (first / "sitecustomize.py").write_text(_FIRST.format(base=str(self.base)))
        return {**os.environ, "PYTHONPATH": str(first)}


def machine(monkeypatch: pytest.MonkeyPatch, base: Path) -> MachinePolicy:
    """Make ``base`` the root of this process's machine, and this user its administrator."""
    policy = MachinePolicy(base)
    monkeypatch.setattr(machine_policy, "_BASE", str(base))
    monkeypatch.setattr(machine_policy, "_ADMINISTRATOR", os.getuid())
    return policy
