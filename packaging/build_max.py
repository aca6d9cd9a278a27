"""3ds Max's archive: an application bundle, to be unpacked into an ApplicationPlugins folder."""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from build_bundle import Layout, build_bundle
from build_requirements import BuildError
from build_wheel import version

LAYOUT = Layout(
    host="3dsmax",
    package="callboard_max",
    static={"bundle": "callboard"},
    ours="callboard",
    library="callboard/Contents/python",
)


def build(out: Path, full: bool) -> list[Path]:
    """Write the archive into ``out``. ``full`` changes nothing, because 3ds Max has Qt. Raises
    BuildError."""
    path = build_bundle(LAYOUT, out)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        package = ET.fromstring(archive.read("callboard/PackageContents.xml"))
    entries = list(package.iter("ComponentEntry"))
    versions = {package.get("AppVersion"), *(entry.get("Version") for entry in entries)}
    if versions != {version()}:
        raise BuildError(
            f"PackageContents.xml must name only version {version()}, but names {versions}"
        )
    for entry in entries:
        module = (entry.get("ModuleName") or "").removeprefix("./")
        if f"callboard/{module}" not in names:
            raise BuildError(f"PackageContents.xml names {module}, which isn't in the archive")
    return [path]
