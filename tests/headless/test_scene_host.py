"""Without ``--host``, the scene file determines the host."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from callboard_programs.cli import main
from e2e.serving import callboard, environment
from needed import need


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["*.ma", "*.MB"], "--host maya, which opens .mb"),
        (["shots/**/*.blend"], "--host blender, which opens .blend"),
        (["*.blend", "--host", "openusd"], None),
        (["*.usda"], None),
        (["*.abc"], None),
    ],
    ids=["maya", "blender", "given", "openusd", "other"],
)
def test_the_ending_chooses_and_the_choice_is_told(
    words: list[str],
    told: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["batch", "scene__scene_info", "--each", *words]) == 2
    shown = capsys.readouterr().err
    assert "no file matches" in shown
    assert f"callboard: {told}\n" in shown if told else "which opens" not in shown


def test_files_of_two_hosts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "scene__scene_info", "--each", "*.blend", "*.usd"]) == 2
    told = capsys.readouterr().err
    assert "no host opens all of these: .blend (blender), .usd (openusd)" in told


def test_a_scene_that_is_not_there_starts_no_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "scene__scene_info", "--scene", "gone.blend"]) == 2
    told = capsys.readouterr()
    assert told.err == "callboard: --scene gone.blend: there is no such file\n"
    assert json.loads(told.out)["error"]["kind"] == "wrong"


@pytest.mark.slow
def test_blender_opens_its_own_scene(tmp_path: Path) -> None:
    need("bpy")

    def run(tool: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            callboard("run", tool, *options),
            env=environment(tmp_path / "home"),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    saved = json.dumps({"path": str(tmp_path / "shot.blend")})
    assert run("scene__save_file", "--host", "blender", "--json", saved).returncode == 0
    done = run("scene__scene_info", "--scene", "shot.blend")
    assert done.returncode == 0, done.stderr
    assert "callboard: --host blender, which opens .blend\n" in done.stderr
