"""Bundles that the command line installs, and that a running server finds, confirms or reverts."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server_bundles import skill_bundle

from callboard.bundles.installed.install_folders import user_bundles
from callboard.bundles.installed.manifest import HOST_KEY
from callboard.skills.file_stamps import tree_stamps
from e2e.serving import environment
from serving import Served, served
from waiting import until

pytestmark = pytest.mark.slow

WORKS = "def main():\n    return {'version': VERSION}\n"


def script(version: str) -> str:
    return f"VERSION = {version!r}\n{WORKS}"


def bundle(folder: Path, version: str = "1.0.0", text: str | None = None, **more: Any) -> Path:
    return skill_bundle(folder, text or script(version), name="rig", version=version, **more)


def needs(**requirements: bool) -> dict[str, Any]:
    wanted = {f"com.example/{name}": {"required": value} for name, value in requirements.items()}
    return {HOST_KEY: {"host_version": "1.1", "host_capabilities": wanted}}


@pytest.fixture
def command(home: Path, tmp_path: Path) -> Any:
    """Return a function that runs ``callboard`` in a separate process and returns its exit status,
    stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "callboard", *map(str, arguments)],
            env=environment(home),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def version_served(running: Served) -> str | None:
    if "rig__run" not in running.app.tools:
        return None
    with running.client() as client:
        response = client.request("tools/call", {"name": "rig__run", "arguments": {}})
        if "error" in response:  # the tool was removed after the check
            return None
        version: str = response["result"]["structuredContent"]["version"]
        return version


def test_installed_upgraded_and_removed_under_a_running_server(
    command: Any, tmp_path: Path
) -> None:
    with served(skills=True) as running:
        assert version_served(running) is None
        status, out, err = command("install-skill", bundle(tmp_path))
        assert (status, err) == (0, "")
        assert "rig 1.0.0 is installed" in out
        until(lambda: version_served(running) == "1.0.0", "the first version")
        until(
            lambda: "hasn't loaded yet" not in command("skills", "--installed")[1],
            "the first version's confirmation",
        )
        assert command("install-skill", bundle(tmp_path, "2.0.0"))[0] == 0
        until(lambda: version_served(running) == "2.0.0", "the second version")
        until(
            lambda: not user_bundles().installed()[0].pending, "the second version's confirmation"
        )
        assert command("uninstall-skill", "rig")[0] == 0
        until(lambda: version_served(running) is None, "the end of the bundle's tool")
    assert "No bundle is installed" in command("skills", "--installed")[1]
    status, _, err = command("uninstall-skill", "rig")
    assert status == 1
    assert "no bundle 'rig' is installed" in err


def test_the_next_start_confirms_what_loads(command: Any, tmp_path: Path) -> None:
    command("install-skill", bundle(tmp_path))
    assert user_bundles().installed()[0].pending
    with served(skills=True) as running:
        assert version_served(running) == "1.0.0"
        assert not user_bundles().installed()[0].pending


def test_the_next_start_takes_back_what_does_not_load(
    command: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    command("install-skill", bundle(tmp_path))
    user_bundles().confirm("rig")
    # The command can read the bundle, so it installs it, although the bundle's dependency doesn't
    # exist.
    source = bundle(tmp_path, "2.0.0")
    skill = source / "SKILL.md"
    skill.write_text(
        skill.read_text().replace("tools: tools", "depends: [nowhere]\n    tools: tools")
    )
    assert command("install-skill", source)[0] == 0
    with served(skills=True) as running:
        until(lambda: version_served(running) == "1.0.0", "the first version")
    (installed,) = user_bundles().installed()
    assert (installed.manifest.version, installed.pending) == ("1.0.0", False)
    assert "1.0.0 is in use again" in caplog.text


def test_what_can_load_nowhere_is_refused_by_the_command(command: Any, tmp_path: Path) -> None:
    command("install-skill", bundle(tmp_path))
    user_bundles().confirm("rig")
    status, _, err = command("install-skill", bundle(tmp_path, "2.0.0", "def main(:\n"))
    assert status == 1
    assert "scripts/run.py:1" in err
    assert "1.0.0 is still in use" in err
    assert "rig 1.0.0" in command("skills", "--installed")[1]


def test_a_required_capability_that_is_missing_refuses(command: Any, tmp_path: Path) -> None:
    status, _, err = command("install-skill", bundle(tmp_path, _meta=needs(paint=True)))
    assert status == 1
    assert "com.example/paint" in err
    assert "Provided: ai.nimblebrain/host-resources" in err
    assert "No bundle is installed" in command("skills", "--installed")[1]


def test_a_preferred_one_installs_and_is_shown_as_missing(command: Any, tmp_path: Path) -> None:
    status, out, _ = command("install-skill", bundle(tmp_path, _meta=needs(paint=False)))
    assert status == 0
    assert "com.example/paint" in out
    assert "missing: com.example/paint" in command("skills", "--installed")[1]
    with served(skills=True) as running, running.client() as client:
        told = client.call("skills__describe", {"name": "rig"})["structuredContent"]["bundle"]
        assert told["missing_capabilities"] == ["com.example/paint"]
        controls = running.app.controls
        controls.status.watch(lambda snapshot: None)
        shown = until(
            lambda: [s for s in controls.status.snapshot.skills if s.name == "rig"],
            "the bundle in the panel",
        )
        assert shown[0].missing == ("com.example/paint",)


def test_a_projects_bundle_is_seen_in_that_project_only(command: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    source = bundle(tmp_path)
    assert command("install-skill", source, "--scope", "project", "--project", "one")[0] == 0
    assert "rig" in command("skills", "--installed", "--project", "one")[1]
    assert "rig" not in command("skills", "--installed", "--project", "two")[1]
    with served(skills=True, roots=[str(tmp_path / "one")]) as running:
        assert version_served(running) == "1.0.0"
    with served(skills=True, roots=[str(tmp_path / "two")]) as running:
        assert version_served(running) is None
    # Bundles aren't stored in the project, because callboard runs no code from a project's folder.
    assert list((tmp_path / "one").iterdir()) == []


def test_a_project_that_is_opened_later_brings_its_bundles(command: Any, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    command("install-skill", bundle(tmp_path), "--scope", "project", "--project", "one")
    with served(skills=True) as running:
        assert version_served(running) is None
        running.host.project = [str(tmp_path / "one")]
        running.on_main(lambda: running.host.announce("project"))
        until(lambda: version_served(running) == "1.0.0", "the project's bundle")


def test_a_sites_bundle_serves_everybody_and_nobody_writes_there(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = bundle(tmp_path)
    status, _, err = command("install-skill", source, "--scope", "site")
    assert (status, "CALLBOARD_SITE doesn't name a folder" in err) == (1, True)
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.setenv("CALLBOARD_SITE", str(site))
    status, _, err = command("install-skill", source, "--scope", "site", "--set", "a=b")
    assert (status, "answers are saved for each user" in err) == (1, True)
    assert command("install-skill", source, "--scope", "site")[0] == 0
    assert "rig 1.0.0  (site)" in command("skills", "--installed")[1]
    (state,) = site.glob("bundles/*/current.json")
    assert os.name == "nt" or state.stat().st_mode & stat.S_IROTH
    before = tree_stamps(site)
    with served(skills=True) as running:
        assert version_served(running) == "1.0.0"
    assert tree_stamps(site) == before
    monkeypatch.delenv("CALLBOARD_SITE")
    with served(skills=True) as running:
        assert version_served(running) is None
