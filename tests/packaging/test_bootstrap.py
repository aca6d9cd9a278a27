"""The decisions of bootstrap.py. CI runs bootstrap.py itself on a clean clone."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap
import find_python
from bootstrap import State
from find_python import Interpreter, SetupError


def python(path: str, version: str, *, bits: int = 64, venv: bool = True) -> Interpreter:
    return Interpreter(path, version, cpython=True, bits=bits, venv=venv)


@pytest.mark.parametrize(
    ("arguments", "extras", "versions"),
    [
        ([], ["usd", "skills"], find_python.VERSIONS),
        (["--port", "0", "--scene", "a.usda"], ["usd", "skills"], find_python.VERSIONS),
        (["--host", "openusd"], ["usd", "skills"], find_python.VERSIONS),
        (["--host", "blender"], ["blender", "skills"], ("3.11",)),
        (["--root", "/x", "--host=blender", "--ui"], ["blender", "ui", "skills"], ("3.11",)),
        (["--debugpy", "5678"], ["usd", "skills", "debug"], find_python.VERSIONS),
        (["--deny", "usd", "--ui"], ["usd", "ui", "skills"], find_python.VERSIONS),
    ],
)
def test_serve_installs_what_its_host_needs(
    arguments: list[str], extras: list[str], versions: tuple[str, ...]
) -> None:
    assert bootstrap.serve_needs(arguments) == (extras, versions)


def test_probe_describes_the_running_python() -> None:
    running = find_python.probe([sys.executable])
    assert running is not None
    assert running.version == "{}.{}".format(*sys.version_info)
    assert running.cpython


def fake_python(folder: Path, body: str) -> Path:
    """Write a program that answers in place of a Python interpreter. Return its path."""
    script = folder / "python"
    script.write_text("#!/bin/sh\n" + body + "\n", encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(
    "body",
    [
        "exit 127",  # A version manager has a shim for a version that isn't installed.
        "echo Python 2.7",
        'echo \'{"version": "3.11"}\'',
        "echo '[1, 2]'",
    ],
)
def test_probe_passes_over_what_is_no_python(tmp_path: Path, body: str) -> None:
    assert find_python.probe([str(fake_python(tmp_path, body))]) is None


def test_probe_passes_over_a_missing_file(tmp_path: Path) -> None:
    assert find_python.probe([str(tmp_path / "python3.11")]) is None


def test_message_names_what_was_found_and_what_to_install() -> None:
    old = python("/usr/bin/python3", "3.9")
    small = python("/opt/python", "3.11", bits=32)
    text = find_python.explain_missing_python(find_python.VERSIONS, [old, small])
    assert "Python 3.10, 3.11, 3.12, 3.13 or 3.14" in text
    assert "3.9 at /usr/bin/python3" in text
    assert "3.11 (32 bit) at /opt/python" in text
    assert "3.11" in text.split("To fix it")[1]


def test_the_versions_are_listed_for_scripts_as_they_are_tried() -> None:
    listed = subprocess.run(
        [sys.executable, str(Path(find_python.__file__)), "--versions"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert tuple(listed.stdout.split()) == find_python.VERSIONS


def test_the_quick_tier_is_what_runs_unless_all_or_a_file_is_named() -> None:
    given = bootstrap.pytest_arguments(["-k", "roots", "-x"], sys.executable)
    assert given[-3:] == ["-k", "roots", "-x"]
    assert given[given.index("-m") + 1] == "not slow and not sweep"
    everything = bootstrap.pytest_arguments(["-x", "--all"], sys.executable)
    assert "-m" not in everything
    assert everything[-1] == "-x"
    one = ["tests/calls/test_batch.py::test_it", "-s"]
    assert bootstrap.pytest_arguments(one, sys.executable) == one


@pytest.mark.parametrize("words", [["--help"], ["test", "--help"]])
def test_help_answers_at_once_and_names_what_can_be_run(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "PROJECT", Path("nowhere"))
    with pytest.raises(SystemExit) as ended:
        bootstrap.main(words)
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "--all" in shown
    assert "--changed" in shown


def test_a_commit_after_changed_says_since_when() -> None:
    # This is the hash of git's empty tree.
    nothing = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    given = bootstrap.pytest_arguments(["-x", "--changed", nothing], sys.executable)
    assert given[given.index("-m") + 1] == "not slow and not sweep"
    assert "-x" in given
    assert "tests/packaging/test_bootstrap.py" in given
    with pytest.raises(SystemExit):
        bootstrap.pytest_arguments(["--changed", "no-such-commit"], sys.executable)


def test_bytecode_that_isn_t_wanted_beside_the_sources_is_kept_in_the_environment() -> None:
    variables = {"PYTHONDONTWRITEBYTECODE": "1", "HOME": "/home/me"}
    bootstrap.keep_bytecode(Path("env"), variables)
    assert variables == {"PYTHONPYCACHEPREFIX": str(Path("env/bytecode")), "HOME": "/home/me"}
    nothing: dict[str, str] = {}
    for wanted in (nothing, {"PYTHONPYCACHEPREFIX": "mine", "PYTHONDONTWRITEBYTECODE": "1"}):
        before = dict(wanted)
        bootstrap.keep_bytecode(Path("env"), wanted)
        before.pop("PYTHONDONTWRITEBYTECODE", None)
        assert wanted == before


def test_message_for_debian_without_venv_names_the_package() -> None:
    bare = python("/usr/bin/python3", "3.11", venv=False)
    text = find_python.explain_missing_python(find_python.VERSIONS, [bare])
    assert "sudo apt install python3-venv" in text
    assert "/usr/bin/python3" in text


def test_message_for_blender_says_why_only_one_version_will_do() -> None:
    other = python("/usr/bin/python3", "3.12")
    text = find_python.explain_missing_python(("3.11",), [other])
    assert "Python 3.11, the only one Blender is published for" in text
    assert "3.12 at /usr/bin/python3" in text


# --- the state of an environment -----------------------------------------------------

READY = State("ready", str(bootstrap.PROJECT), "3.11", ["usd"], bootstrap.fingerprint())


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """Return an environment that is ready for the extra `usd`."""
    venv = tmp_path / ".venv"
    python = bootstrap.program(venv, "python")
    python.parent.mkdir(parents=True)
    python.touch()
    bootstrap.write_state(venv, READY)
    return venv


def test_a_finished_environment_is_ready(venv: Path) -> None:
    assert bootstrap.read_state(venv) == READY
    assert bootstrap.is_ready(venv, ["usd"], find_python.VERSIONS)
    assert bootstrap.is_ready(venv, [], ["3.11"])


def test_another_extra_or_python_needs_a_set_up(venv: Path) -> None:
    assert not bootstrap.is_ready(venv, ["usd", "dev"], find_python.VERSIONS)
    assert not bootstrap.is_ready(venv, ["usd"], ["3.12"])


@pytest.mark.parametrize(
    "state",
    [
        READY._replace(phase="installing"),
        READY._replace(phase="creating"),
        READY._replace(project="/moved"),
        READY._replace(fingerprint=""),
    ],
)
def test_an_interrupted_moved_or_outdated_environment_is_not_ready(
    venv: Path, state: State
) -> None:
    bootstrap.write_state(venv, state)
    assert not bootstrap.is_ready(venv, ["usd"], find_python.VERSIONS)


def test_an_environment_whose_python_is_gone_is_not_ready(venv: Path) -> None:
    bootstrap.program(venv, "python").unlink()
    assert not bootstrap.is_ready(venv, ["usd"], find_python.VERSIONS)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"phase": "ready"}'])
def test_an_illegible_state_counts_as_none(venv: Path, text: str) -> None:
    (venv / bootstrap.STATE_FILE).write_text(text, encoding="utf-8")
    assert bootstrap.read_state(venv) is None
    assert not bootstrap.is_ready(venv, ["usd"], find_python.VERSIONS)


def test_emptying_keeps_the_state_and_follows_no_link(venv: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    if os.name != "nt":
        (venv / "lib64").symlink_to(outside)
    bootstrap.empty(venv)
    assert [child.name for child in venv.iterdir()] == [bootstrap.STATE_FILE]
    assert (outside / "kept").exists()


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    venv = tmp_path / ".venv"
    venv.mkdir()
    (venv / "letters").write_text("mine", encoding="utf-8")
    with pytest.raises(SetupError, match="was not made by this program"):
        bootstrap.ensure(venv, ["usd"], find_python.VERSIONS)
    assert (venv / "letters").read_text(encoding="utf-8") == "mine"


def test_stdout_stays_empty_when_something_is_wrong() -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(Path(bootstrap.__file__)), "--python", "3.12"),
            *("serve", "--host", "blender"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Blender as a module needs Python 3.11" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_archives_are_built_where_nothing_is_installed(tmp_path: Path) -> None:
    clone, made = tmp_path / "clone", tmp_path / "made"
    clone.mkdir()
    for room in ("core", "hosts", "packaging", "ui"):
        shutil.copytree(bootstrap.PROJECT / room, clone / room)
    for file in ("CHANGELOG.md", "LICENSE", "README.md", "constraints.txt", "pyproject.toml"):
        shutil.copy2(bootstrap.PROJECT / file, clone)
    done = subprocess.run(
        [
            *(sys.executable, str(clone / "packaging" / "bootstrap.py")),
            *("build", "blender", "--out", str(made)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list(made.glob("callboard-blender-*.zip"))) == 2
