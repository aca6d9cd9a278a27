"""The message when a system library that Qt needs is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from callboard_ui.qt_libraries import advice, debian_package, missing_libraries, what_to_install
from needed import need

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has X11's libraries")


def compiled(folder: Path, name: str, *linked: str) -> Path:
    """Return a library that needs others, made with this machine's compiler."""
    need("cc")
    options = [f"-Wl,-soname,{name}", "-Wl,--no-as-needed", f"-L{folder}"]
    made = folder / name
    subprocess.run(
        ["cc", "-shared", "-x", "c", "/dev/null", "-x", "none", "-o", made, *options]
        + [str(folder / one) for one in linked],
        check=True,
        capture_output=True,
    )
    return made


def test_the_library_that_is_missing_is_named_with_its_package(tmp_path: Path) -> None:
    there = compiled(tmp_path, "libxcb-icccm-of-nobody.so.4")
    plugin = compiled(tmp_path, "libqxcb.so", there.name)
    there.unlink()
    missing = missing_libraries(str(plugin))
    assert missing[0] == "libxcb-icccm-of-nobody.so.4"
    assert "libxcb-icccm-of-nobody4" in what_to_install(missing)


def test_one_that_loads_lacks_nothing(tmp_path: Path) -> None:
    assert missing_libraries(str(compiled(tmp_path, "libqxcb.so"))) == []


def test_a_plug_in_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    assert missing_libraries(str(tmp_path / "libqxcb.so")) == []


def test_without_pyside_nobody_can_tell(tmp_path: Path) -> None:
    assert advice([str(tmp_path)]) is None


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libxcb-icccm.so.4", "libxcb-icccm4"),
        ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
    ],
)
def test_debian_names_a_package_after_its_library(library: str, package: str) -> None:
    assert debian_package(library) == package


def test_every_package_is_named_at_once() -> None:
    advice = what_to_install(["libxcb-icccm.so.4", "libxcb-keysyms.so.1"])
    assert "the packages libxcb-icccm4 and libxcb-keysyms1 (Debian, Ubuntu)" in advice
    assert "xcb-util-wm and xcb-util-keysyms" in advice
