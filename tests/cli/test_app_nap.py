"""``callboard doctor`` on macOS, which slows down applications in the background."""

from __future__ import annotations

import os
import plistlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from callboard.transport.instances import Instance, announce
from callboard_programs.cli import app_nap, doctor_command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows can't have macOS paths")

MAYA = {"CFBundleIdentifier": "com.autodesk.Maya"}
SET = "defaults write com.autodesk.Maya NSAppSleepDisabled -bool YES"


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, str], None]:
    """Return a function that imitates a Mac. ``info`` is the Info.plist of the application that
    this process seems to be. ``awake`` names a setting that keeps applications awake."""

    def answers(info: bytes, awake: str = "") -> None:
        contents = tmp_path / "Maya.app" / "Contents"
        contents.mkdir(parents=True)
        (contents / "Info.plist").write_bytes(info)
        told = {
            f"/bin/ps -o comm= -p {os.getpid()}": f"{contents.as_posix()}/bin/maya\n",
            f"/usr/bin/defaults read {awake} NSAppSleepDisabled": "1\n",
        }

        def run(command: tuple[str, ...], **options: Any) -> SimpleNamespace:
            if " ".join(command) not in told:
                raise subprocess.CalledProcessError(1, command)
            return SimpleNamespace(stdout=told[" ".join(command)])

        monkeypatch.setattr(subprocess, "run", run)

    monkeypatch.setattr(app_nap, "SLOWS", True)
    return answers


def test_doctor_tells_what_keeps_a_host_awake(
    mac: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mac(plistlib.dumps(MAYA))
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        announce(Instance("a" * 16, "maya", "Maya", nobody, None, os.getpid(), time.time()))
        lines = [line for _, line in doctor_command.findings()]
    assert any("Maya" in line and f"`{SET}`" in line for line in lines), lines


@pytest.mark.parametrize(
    ("info", "awake"),
    [
        (plistlib.dumps(MAYA), "com.autodesk.Maya"),
        (plistlib.dumps(MAYA), "-g"),
        (plistlib.dumps({**MAYA, "LSAppNapIsDisabled": True}), ""),
        (plistlib.dumps({"CFBundleIdentifier": "org.python.python"}), ""),
        (b"<?xml no plist", ""),
        (plistlib.dumps(["no", "dictionary"]), ""),
    ],
)
def test_what_is_not_slowed_or_says_nothing_is_left_alone(
    info: bytes, awake: str, mac: Callable[..., None]
) -> None:
    mac(info, awake)
    assert app_nap.advice(os.getpid()) is None
