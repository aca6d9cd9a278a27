"""Each host's archive is installed into a user's folders, and removed again."""

from __future__ import annotations

from pathlib import Path

import pytest
from archives import built

from callboard_programs.cli import main

#: The folder of each host's files below a user's folder, and the part of the archive that holds
#: libraries.
PLACES = {
    "maya": ("Documents/maya/2026/modules", "callboard/python"),
    "houdini": ("Documents/houdini21.0", "packages/callboard/python"),
    "3dsmax": ("Roaming/Autodesk/ApplicationPlugins", "callboard/Contents/python"),
    "blender": (
        "Roaming/Blender Foundation/Blender/4.1/scripts/addons",
        "callboard_addon/lib",
    ),
}
#: The number of levels from that folder up to ``--dir``, if they aren't the same folder.
CHOSEN = {"maya": 1, "blender": 2}


@pytest.mark.parametrize("host", PLACES)
def test_it_goes_in_and_out_again(host: str, tmp_path: Path) -> None:
    user = tmp_path / "Zoë Müller"
    below, library = PLACES[host]
    place = user / below
    chosen = Path(*place.parts[: len(place.parts) - CHOSEN.get(host, 0)])
    place.mkdir(parents=True)
    (place / "theirs.txt").write_text("theirs")
    # For Blender, this is the archive for older versions, because Blender itself installs
    # extensions.
    words = ["install", host, "--dir", str(chosen), "--archive", str(built(host)[-1])]
    assert main(words) == 0
    skill = place / library / "callboard" / "skills" / "bundled" / "scene" / "SKILL.md"
    assert skill.is_file()
    assert main(["uninstall", host, "--dir", str(chosen)]) == 0
    assert [each.name for each in place.rglob("*") if each.is_file()] == ["theirs.txt"]
