"""The line that names the tests that a machine will skip, printed before the tests start."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from source_trees import PROJECT


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither apt nor dnf")
@pytest.mark.parametrize("command", ["apt", "dnf"])
def test_what_is_missing_is_told_with_the_command_that_installs_it(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if command == "dnf":
        (tmp_path / "dnf").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["needed.py"])
    # Load the module anew, so that it has no cached answer from an earlier test.
    runpy.run_path(str(PROJECT / "tests" / "needed.py"), run_name="__main__")
    skipped, _, install = capsys.readouterr().out.strip().partition(". To run them too: ")
    assert skipped.startswith("this machine skips the tests that need ")
    assert skipped.endswith("openssl; cc")
    assert install.startswith(f"sudo {command} install ")
    assert install.endswith("openssl gcc")
