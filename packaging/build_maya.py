"""Maya's archive: a module, to be unpacked into a folder where Maya looks for modules."""

from __future__ import annotations

import zipfile
from pathlib import Path

from build_bundle import Layout, build_bundle
from build_requirements import BuildError
from build_wheel import version

LAYOUT = Layout(
    host="maya",
    package="callboard_maya",
    static={"module/callboard.mod": "callboard.mod", "module/plug-ins": "callboard/plug-ins"},
    ours="callboard",
    library="callboard/python",
    beside=("callboard.mod",),
)


def build(out: Path, full: bool) -> list[Path]:
    """Write the archive into ``out``. ``full`` changes nothing, because Maya has Qt. Raises
    BuildError."""
    path = build_bundle(LAYOUT, out)
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("callboard.mod").decode().splitlines()
        names = archive.namelist()
    if lines != [f"+ callboard {version()} ./callboard", "PYTHONPATH +:= python"]:
        raise BuildError(f"callboard.mod must name version {version()} and point to ./callboard")
    if "callboard/plug-ins/callboard_plugin.py" not in names:
        raise BuildError(f"{path.name} doesn't contain the plug-in")
    return [path]
