"""Other people's files in the archives are listed, have a reviewed license, and have no known
vulnerability."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from archives import built
from packaging.utils import parse_wheel_filename

import audit
from build import HOSTS
from build_requirements import CACHE, PROJECT, BuildError, Bundled
from build_sbom import ALLOWED, NAME, bill

GOOD = Bundled("Thing", "1.2", "MIT", {}, "thing-1.2-py3-none-any.whl", "0" * 64)


def bills() -> list[tuple[Path, dict[str, Any]]]:
    listed = []
    for host in HOSTS:
        for path in built(host):
            with zipfile.ZipFile(path) as archive:
                (name,) = [each for each in archive.namelist() if each.endswith(NAME)]
                listed.append((path, json.loads(archive.read(name))))
    return listed


#: Packages whose name for pip differs from their name in Python.
INDEXED = {"yaml": "pyyaml"}


def others_in(data: bytes) -> set[str]:
    """Return the names of other people's code in an archive: vendored packages, whole wheels, and
    the packages that our generated files name as their source. Looks inside our own wheel too."""
    there: set[str] = set()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.endswith(".whl") and not Path(name).name.startswith("callboard-"):
                there.add(parse_wheel_filename(Path(name).name)[0])
            elif name.endswith(".whl"):
                there |= others_in(archive.read(name))
            elif package := re.search(r"\bcallboard_vendor/([^/]+)/", name):
                there.add(package[1])
            elif name.endswith(".py"):
                text = archive.read(name).decode()
                there.update(re.findall(r"Generated from the published package \(``(\w+)``", text))
    return there


@pytest.mark.slow
def test_each_archive_lists_what_it_carries() -> None:
    for path, listed in bills():
        assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.6"), path
        names = {part["name"] for part in listed["components"]}
        assert names == {INDEXED.get(each, each) for each in others_in(path.read_bytes())}, path
        (root, *others) = listed["dependencies"]
        assert root["dependsOn"] == [part["bom-ref"] for part in listed["components"]]
        assert [each["ref"] for each in others] == root["dependsOn"]
        with zipfile.ZipFile(path) as archive:
            texts = [n for n in archive.namelist() if n.endswith("THIRD_PARTY.txt")]
            notice = archive.read(texts[0]).decode().lower()
        for part in listed["components"]:
            (digest,) = part["hashes"]
            wheel = CACHE / part["purl"].partition("file_name=")[2]
            assert digest["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
            assert f" {part['version']}: ".lower() in notice
            assert part["licenses"], part


def test_the_same_bill_twice() -> None:
    first = bill([GOOD])
    assert first == bill([GOOD, GOOD])
    assert json.loads(first)["serialNumber"] != json.loads(bill([]))["serialNumber"]


@pytest.mark.parametrize("license", [*sorted(ALLOWED), "GPL-2.0-only OR LGPL-3.0-only"])
def test_a_licence_that_was_looked_at_is_taken(license: str) -> None:
    assert json.loads(bill([replace(GOOD, license=license)]))["components"]


@pytest.mark.parametrize(
    "license", ["GPL-3.0-only", "Proprietary", "UNKNOWN", "MIT AND GPL-2.0-only", "AGPL-3.0"]
)
def test_another_licence_ends_the_build(license: str) -> None:
    with pytest.raises(BuildError, match=r"Thing 1\.2 is under"):
        bill([replace(GOOD, license=license)])


def test_every_pin_is_asked_about_once() -> None:
    pinned = audit.pins()
    lines = (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(pinned) == len({line.partition(" ")[0] for line in lines if line[:1] not in "#"})
    groups = list(audit.groups(pinned))
    assert sorted(pin for group in groups for pin in group) == pinned
    for group in groups:
        names = [pin.partition("==")[0] for pin in group]
        assert len(set(names)) == len(names)


ANSWERS = {
    "nothing flawed": ('{"dependencies": [{"name": "x", "version": "1", "vulns": []}]}', 0),
    "a hole": ('{"dependencies": [{"name": "x", "version": "1", "vulns": [{"id": "V"}]}]}', 1),
    "not asked": ('{"dependencies": [{"name": "x", "skip_reason": "not on PyPI"}]}', None),
    "too few": ('{"dependencies": []}', None),
    "no answer": ("", None),
}


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a POSIX script")
@pytest.mark.parametrize("answer", ANSWERS)
def test_no_answer_is_never_taken_for_a_good_one(answer: str, tmp_path: Path) -> None:
    text, flawed = ANSWERS[answer]
    tool = tmp_path / "pip-audit"
    tool.write_text(f"#!/bin/sh\necho '{text}'\n", encoding="utf-8")
    tool.chmod(0o755)
    if flawed is None:
        with pytest.raises(audit.CantTell):
            audit.asked(tool, "pypi", ["x==1"])
        with pytest.raises(audit.CantTell):
            audit.answering(tool)
    else:
        assert len(audit.asked(tool, "pypi", ["x==1"])) == flawed


@pytest.mark.slow
def test_no_pinned_package_has_a_known_vulnerability() -> None:
    program = [sys.executable, str(PROJECT / "packaging" / "audit.py")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
