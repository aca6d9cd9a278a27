"""Houdini's archive: a package, to be unpacked into the user's preferences folder."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from build_bundle import Layout, build_bundle
from build_requirements import BuildError

LAYOUT = Layout(
    host="houdini",
    package="callboard_houdini",
    static={"package/packages": "packages"},
    ours="packages/callboard",
    library="packages/callboard/python",
    beside=("packages/callboard.json",),
)
#: The Pythons of Houdini 20 and later. Each finds the start-up file in a separate folder.
PYTHONS = ("3.10", "3.11", "3.13")


def build(out: Path, full: bool) -> list[Path]:
    """Write the archive into ``out``. ``full`` changes nothing, because Houdini has Qt. Raises
    BuildError."""
    path = build_bundle(LAYOUT, out)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        package = json.dumps(json.loads(archive.read("packages/callboard.json")))
        for name in ("MainMenuCommon.xml", "python_panels/callboard.pypanel"):
            ET.fromstring(archive.read(f"{LAYOUT.ours}/{name}"))
    for wanted in ("$HOUDINI_PACKAGE_PATH/callboard", "/python"):
        if f'{wanted}"' not in package:
            raise BuildError(f"callboard.json doesn't name {wanted}")
    libs = {name.removeprefix(f"{LAYOUT.ours}/") for name in names if "libs/" in name}
    # These folders are on sys.path too, so they must not contain anything else.
    if libs != {f"python{python}libs/uiready.py" for python in PYTHONS}:
        raise BuildError(
            f"{path.name} must have a start-up file for each Python ({', '.join(PYTHONS)}) and no "
            f"other, but has: {', '.join(sorted(libs))}"
        )
    return [path]
