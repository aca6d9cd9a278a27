"""``callboard install blender``: the output of Blender itself."""

from __future__ import annotations

import ctypes
import os
import sys
import zipfile
from pathlib import Path

import pytest

from callboard_programs.cli import main

#: The third byte is neither UTF-8 nor in Windows' Western code page.
PRINTED = b'Blender 3.6.5\n\xe9 \x81\n{"callboard": "done"}\n'


#: A Blender that opens the system's sound device, as 5.2 does even with ``-noaudio``.
LISTENING = """
import ctypes, sys
print("Blender 3.6.5")
if "--version" in sys.argv:
    sys.exit()
sound = ctypes.CDLL("libpulse.so.0")
for made in (sound.pa_mainloop_new, sound.pa_mainloop_get_api, sound.pa_context_new):
    made.restype = ctypes.c_void_p
loop = ctypes.c_void_p(sound.pa_mainloop_new())
context = sound.pa_context_new(ctypes.c_void_p(sound.pa_mainloop_get_api(loop)), b"Blender")
sound.pa_context_connect(ctypes.c_void_p(context), None, 1, None)
print('{"callboard": "done"}')
"""


def test_a_blender_whose_words_are_in_another_code_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "words").write_bytes(PRINTED)
    if sys.platform == "win32":
        (programs / "blender.bat").write_text('@type "%~dp0words"\n')
    else:
        (programs / "blender").write_text(f'#!/bin/sh\ncat "{programs / "words"}"\n')
        (programs / "blender").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    archive = some_archive(tmp_path)
    user = tmp_path / "3.6"
    assert main(["install", "blender", "--dir", str(user), "--archive", str(archive)]) == 0
    assert "enable it in Blender 3.6\n" in capsys.readouterr().out


def test_the_library_of_sound_makes_no_folder_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        ctypes.CDLL("libpulse.so.0")
    except OSError:
        pytest.skip("no PulseAudio here")
    home, programs = tmp_path / "home", tmp_path / "programs"
    home.mkdir()
    programs.mkdir()
    (programs / "blender").write_text(f"#!{sys.executable}{LISTENING}")
    (programs / "blender").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "PULSE_RUNTIME_PATH"):
        monkeypatch.delenv(variable, raising=False)
    user, archive = tmp_path / "3.6", some_archive(tmp_path)
    assert main(["install", "blender", "--dir", str(user), "--archive", str(archive)]) == 0
    assert (user / "scripts/addons/callboard_addon/__init__.py").read_text() == "one"
    assert list(home.iterdir()) == []


def some_archive(folder: Path) -> Path:
    archive = folder / "some.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("callboard_addon/__init__.py", "one")
    return archive
