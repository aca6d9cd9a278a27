"""Tests every tool that makes changes on a file with the kinds of content that artists' files have.
Nothing else is lost, and undo is exact. The host provides the list of tools, so a new one is tested
without being named here. ``benchmarks/corpus.py`` does the same with any folder of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.serving import PROJECT, environment
from needed import need

#: Enough changes to call each tool one and a half times on average.
CHANGES = "80"


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_no_changing_tool_loses_anything_else(tmp_path: Path) -> None:
    need("bpy")
    (tmp_path / "files").mkdir()
    made, maker = tmp_path / "files", Path(__file__).with_name("corpus_blends.py")
    subprocess.run([sys.executable, str(maker), str(made)], check=True, stdout=subprocess.DEVNULL)
    corpus = [sys.executable, str(PROJECT / "benchmarks" / "corpus.py"), str(made)]
    done = subprocess.run(
        [*corpus, "--match", "show", "--changes", CHANGES],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-4000:]
    assert "1 opened" in done.stdout, done.stdout
