"""MCPB's official packer accepts every bundle that callboard makes or shows."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from shutil import copytree

import pytest

from callboard_programs.cli import main
from conformance.test_official_suite import PROJECT, suite

__all__ = ["suite"]

MANIFEST = re.compile(r"^```json \S*manifest\.json\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Packer:
    """The packer's command line."""

    def __init__(self, suite: Path) -> None:
        modules = suite / "node_modules"
        self._node = modules / ".bin" / ("node.exe" if os.name == "nt" else "node")
        self._script = modules / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"

    def __call__(self, *words: object) -> None:
        command = [str(self._node), str(self._script), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def packer(suite: Path) -> Packer:
    return Packer(suite)


def take(packer: Packer, folder: Path, out: Path) -> None:
    """Validate and pack a folder, and read the packed bundle as `install-skill` does."""
    packer("validate", folder / "manifest.json")
    packer("pack", folder, out)
    assert main(["lint", str(out)]) == 0


def test_it_takes_what_new_bundle_makes_and_pack_packs(
    packer: Packer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-bundle", "shot-list", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "shot-list"
    take(packer, folder, tmp_path / "theirs.mcpb")
    ours = tmp_path / "ours.mcpb"
    assert main(["pack", str(folder), "--out", str(ours)]) == 0
    packer("unpack", ours, tmp_path / "unpacked")
    packer("validate", tmp_path / "unpacked" / "manifest.json")
    capsys.readouterr()


def test_it_takes_the_example(packer: Packer, tmp_path: Path) -> None:
    # The packer writes its file next to the folder.
    folder = copytree(PROJECT / "examples" / "bundle", tmp_path / "bundle")
    take(packer, folder, tmp_path / "example.mcpb")


def test_it_takes_every_manifest_of_the_pages(packer: Packer, tmp_path: Path) -> None:
    pages = (PROJECT / "docs" / "bundles.md").read_text("utf-8")
    shown = MANIFEST.findall(pages)
    assert len(shown) == 2
    for number, text in enumerate(shown):
        file = tmp_path / f"{number}" / "manifest.json"
        file.parent.mkdir()
        file.write_text(text, "utf-8")
        packer("validate", file)


def test_lint_warns_of_what_the_packer_refuses(
    packer: Packer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copytree(PROJECT / "examples" / "bundle", tmp_path / "bundle")
    manifest = folder / "manifest.json"
    whole = manifest.read_text("utf-8")
    without = re.sub(r'  "server": \{.*?\n  \},\n', "", whole, flags=re.DOTALL)
    setting = '  "user_config": {"key": {"type": "string", "title": "Key"}},\n  "server"'
    for written, word in ((without, "server"), (whole.replace('  "server"', setting), "key")):
        manifest.write_text(written, "utf-8")
        with pytest.raises(AssertionError, match=word):
            packer("validate", manifest)
        capsys.readouterr()
        assert main(["lint", str(folder)]) == 0
        assert re.search(rf"warning: .*{word}.* packer", capsys.readouterr().out)
