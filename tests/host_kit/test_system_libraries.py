"""The message about a missing system library that Blender's Python module needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from callboard.host_kit.system_libraries import BLENDER_LINKS, missing_for_blender

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere bpy includes them all")

ABSENT = {"libof-nobody.so.7": ("libof-nobody7", "libof-nobody")}
START = f"""
from callboard.errors import HostError
from callboard.host_kit import headless, system_libraries
system_libraries.BLENDER_LINKS.update({ABSENT!r})
try:
    headless.make_host("blender", lambda work: None)
except HostError as error:
    print(error)
"""


def test_each_library_is_named_with_the_commands_that_bring_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(BLENDER_LINKS, *ABSENT.copy().popitem())
    advised = missing_for_blender()
    assert advised is not None
    assert "libof-nobody.so.7" in advised
    assert advised.endswith("libof-nobody`")
    assert "libof-nobody7`" in advised


def test_a_start_names_them_and_not_what_is_installed_already(tmp_path: Path) -> None:
    # The error that Blender's own module raises on such a system.
    (tmp_path / "bpy.py").write_text(
        "raise ImportError('libof-nobody.so.7: cannot open', name='bpy')\n", encoding="utf-8"
    )
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    advised = subprocess.run(
        [sys.executable, "-c", path + START], capture_output=True, text=True, check=True
    ).stdout
    assert advised.startswith("the host 'blender' can't start: this system is missing ")
    assert "apt install" in advised
    assert "pip install" not in advised
