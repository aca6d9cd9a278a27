"""``callboard serve`` refuses options that can't be what the user meant."""

from __future__ import annotations

import os
import re
import shlex
import shutil

import pytest

from callboard_programs.cli import main
from e2e.serving import serve
from needed import need

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("port", ["-1", "65536", "x", "²"])
def test_a_number_that_is_no_port_is_refused_in_a_sentence(capsys, port):
    with pytest.raises(SystemExit) as ended:
        main(["serve", f"--port={port}"])
    assert ended.value.code == 2
    assert "isn't a port; give 0 to 65535" in capsys.readouterr().err


def test_what_has_no_effect_is_said(tmp_path, capfd):
    need("pxr")
    gone, above = str(tmp_path / "gone"), str(tmp_path)
    options = ["--skills", gone, "--skills", above, "--root", gone]
    options += ["--deny", "filesystem.wirte", "--deny", "usd"]
    with serve(tmp_path / "home", *options):
        pass
    warnings = capfd.readouterr().err
    assert warnings.count("gone: this skill path doesn't exist; mount it, or correct") == 1
    assert f"--skills {gone}" not in warnings
    assert f"--skills {above}: it has no skills yet" in warnings
    assert f"--root {gone}: there is no such folder yet" in warnings
    assert "--deny filesystem.wirte withdraws nothing" in warnings
    assert "did you mean filesystem.write?" in warnings
    assert "--deny usd" not in warnings


def test_it_names_a_command_that_can_be_typed(tmp_path, capfd, monkeypatch):
    need("pxr")
    monkeypatch.setenv("PATH", os.defpath)
    with serve(tmp_path / "home"):
        pass
    shown = re.search(r"Call a tool: +(.*) call scene__scene_info", capfd.readouterr().err)
    assert shown is not None
    assert shutil.which(shlex.split(shown[1])[0]) is not None
