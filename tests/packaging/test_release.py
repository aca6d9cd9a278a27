"""Everything that a release publishes is built as for a release, and tested on its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from archives import built

from build import HOSTS
from build_requirements import PROJECT

pytestmark = [
    pytest.mark.timeout(1500),  # CI runs this test in parallel with all of its other stages.
    pytest.mark.skipif(
        sys.version_info < (3, 11), reason="releases are made by Python 3.11 or later"
    ),
]
#: Some text from each line that reports a trial, in the order of the trials.
TRIED = (
    "installs",
    "callboard 0",
    "install maya",
    "uninstall maya",
    "install houdini",
    "uninstall houdini",
    "install 3dsmax",
    "uninstall 3dsmax",
    "config cursor starts",
    "gateway is running",
    "pip builds a wheel",
    "answers as callboard",
)


def test_a_release_is_made_twice_alike_and_tried_in_empty_environments(tmp_path: Path) -> None:
    program = PROJECT / "packaging" / "release.py"
    out = tmp_path / "dist"
    done = subprocess.run(
        [sys.executable, str(program), "--out", str(out)],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        # The build below has other values, so an archive that depended on these would differ.
        env={**os.environ, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
    )
    if "could not fetch" in done.stderr or "connection broken" in done.stderr:
        pytest.skip(f"the index is out of reach: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    tried = [line for line in done.stdout.splitlines() if line.startswith("ok  ")]
    assert len(tried) == len(TRIED), tried
    assert all(word in line for word, line in zip(TRIED, tried, strict=True)), tried

    sums = dict(
        reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines()
    )
    papers = {f"{name}{ending}" for name in sums for ending in (".cdx.json", ".licenses.txt")}
    assert {path.name for path in out.iterdir()} == {"SHA256SUMS", *sums, *papers}
    kinds = [Path(name).suffix for name in sums]
    assert [kinds.count(kind) for kind in (".zip", ".whl", ".gz", ".mcpb")] == [
        len(kinds) - 3,
        *[1, 1, 1],
    ]
    for host in HOSTS:
        for path in built(host):
            assert path.read_bytes() == (out / path.name).read_bytes(), path.name
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
        bill = json.loads((out / f"{name}.cdx.json").read_bytes())
        licences = (out / f"{name}.licenses.txt").read_text("utf-8")
        assert bill["bomFormat"] == "CycloneDX"
        assert "==== LICENSE" in licences
        for part in bill["components"]:
            assert f"{part['name']} {part['version']}: ".lower() in licences.lower(), name

    (wheel,) = (out / name for name in sums if name.endswith(".whl"))
    with zipfile.ZipFile(wheel) as archive:
        (about,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        described = archive.read(about).decode("utf-8")
    # This line tells the MCP registry that the package on PyPI belongs to the server.
    assert f"mcp-name: {json.loads((PROJECT / 'server.json').read_bytes())['name']}" in described
