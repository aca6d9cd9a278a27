"""Sets callboard up on a fresh machine, then runs it. Needs nothing but Python.

    python packaging/bootstrap.py serve [arguments for `callboard serve`]
    python packaging/bootstrap.py test [--all | --changed [REV]] [arguments for pytest]
    python packaging/bootstrap.py docs [--out FOLDER] [--outside]
    python packaging/bootstrap.py build [HOST ...] [--full]   archives for the hosts
    python packaging/bootstrap.py release [--unchecked]       everything that is published

The first run creates .venv in this project, or .venv-test for all commands but serve, and installs
the exact versions in constraints.txt. Later runs start at once. This program's own output goes to
stderr, because stdout belongs to the program that it starts.

This file also runs under Pythons that are too old or too new for callboard, so that it can find a
suitable one. Keep its syntax compatible with Python 3.7, and import only the standard library.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from find_python import BLENDER_VERSIONS, VERSIONS, WINDOWS, SetupError, find_python, probe

PROJECT = Path(__file__).resolve().parent.parent
HOST_EXTRAS = {"openusd": ["usd"], "blender": ["blender"]}
TEST_EXTRAS = ["blender", "build", "debug", "dev", "docs", "farm", "ui", "usd"]
PROGRAMS = {
    "docs": ("docs_site.py", ["docs", "skills"]),
    "build": ("build.py", ["build"]),
    "release": ("release.py", ["build"]),
}
"""Programs beside this file, and the extras that each needs."""
STATE_FILE = "callboard-setup.json"
QUICK = ["-m", "not slow and not sweep", "--hypothesis-profile", "fast", "-n", "4"]
QUICK += ["--dist", "worksteal"]
"""Many of these tests wait: on two processors, running four at once is a third faster than two."""
ALL = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
"""Slow tests wait for programs, windows and clients; a file's tests may share one of these. The
tests keep the order of tests/conftest.py, in which the longest files come first."""


class State(NamedTuple):
    """The progress of the environment's setup, as recorded inside the environment."""

    phase: str
    """`creating`, `installing` or `ready`: the first two mean that the set-up was interrupted."""
    project: str
    python: str
    extras: list[str]
    fingerprint: str


def say(text: str) -> None:
    print("callboard: " + text, file=sys.stderr, flush=True)


# --- progress of the set-up -----------------------------------------------------------


def fingerprint() -> str:
    """Return a value that changes when the packages to install change."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((PROJECT / name).read_bytes() + b"\0")
    # An editable install finds only the packages that existed when it was made.
    for root in ("core", "hosts", "ui"):
        for package in sorted((PROJECT / root).glob("callboard*/__init__.py")):
            digest.update(package.parent.name.encode() + b"\0")
    return digest.hexdigest()


def read_state(venv: Path) -> State | None:
    """Return the state, or None if it can't be read, because the environment isn't ours or doesn't
    exist."""
    try:
        return State(**json.loads((venv / STATE_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(venv: Path, state: State) -> None:
    fresh = venv / (STATE_FILE + ".new")
    fresh.write_text(json.dumps(state._asdict()), encoding="utf-8")
    fresh.replace(venv / STATE_FILE)


def program(venv: Path, name: str) -> Path:
    return venv / "Scripts" / (name + ".exe") if WINDOWS else venv / "bin" / name


def is_ready(venv: Path, extras: Sequence[str], versions: Sequence[str]) -> bool:
    state = read_state(venv)
    return (
        state is not None
        and state.phase == "ready"
        and state.project == str(PROJECT)
        and state.python in versions
        and set(extras) <= set(state.extras)
        and state.fingerprint == fingerprint()
        and program(venv, "python").exists()
    )


# --- setting up -----------------------------------------------------------------------


if sys.platform == "win32":
    import msvcrt

    def wait_for_lock(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)  # this keeps trying for ten seconds
            except OSError:
                say("another set-up of this project is running; waiting for it")
            else:
                return

else:
    import fcntl

    def wait_for_lock(descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this project is running; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def run(command: Sequence[str], lock: int) -> int:
    """Run one step of the setup, with its output on stderr, and return its exit code.

    The step inherits the lock: if this program is killed, the next one waits until the orphaned
    step has ended instead of working against it.
    """
    kept = () if WINDOWS else (lock,)
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, pass_fds=kept).returncode


def empty(venv: Path) -> None:
    """Remove everything in the environment except the state file, by which this program recognizes
    an environment as its own."""
    for child in venv.iterdir():
        if child.name != STATE_FILE:
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child)
            else:
                child.unlink()


def adopt(venv: Path, lock: int) -> str:
    """Take over a working environment that was made by hand. Return its Python version."""
    python = str(program(venv, "python"))
    interpreter = probe([python])
    if interpreter is None or run([python, "-I", "-m", "pip", "--quiet", "--version"], lock):
        raise SetupError(
            f"{venv} exists, was not made by this program and isn't a working virtual "
            "environment. Move it away or delete it, then run this again."
        )
    return interpreter.version


def create(venv: Path, versions: Sequence[str], lock: int) -> str:
    """Make the empty environment. Return its Python version."""
    python = find_python(versions)
    say(f"making {venv} with Python {python.version} ({python.path})")
    venv.mkdir(exist_ok=True)
    write_state(venv, State("creating", str(PROJECT), python.version, [], ""))
    empty(venv)
    if run([python.path, "-I", "-m", "venv", str(venv)], lock):
        raise SetupError(
            f"{python.path} could not make a virtual environment in {venv}: its output is "
            "above. Fix that, then run this again."
        )
    return python.version


def set_up(venv: Path, extras: Sequence[str], versions: Sequence[str], lock: int) -> None:
    """Bring the environment to `ready`, whatever state an earlier run left it in."""
    before = read_state(venv)
    if before is None and venv.exists() and any(venv.iterdir()):
        version = adopt(venv, lock)
        before = State("ready", str(PROJECT), version, [], "")
        if version not in versions:
            raise SetupError(
                f"{venv} has Python {version}, but {' or '.join(versions)} is needed. It was not "
                "made by this program: move it away or delete it, then run this again."
            )
    usable = (
        before is not None
        and before.phase == "ready"
        and before.project == str(PROJECT)
        and before.python in versions
        and program(venv, "python").exists()
    )
    if before is None or not usable:
        version = create(venv, versions, lock)
        before = State("ready", str(PROJECT), version, [], "")
    wanted = sorted({*extras, *before.extras})
    say(
        f"installing {', '.join(wanted)}; this happens once, and takes some minutes on a slow "
        "network"
    )
    write_state(venv, before._replace(phase="installing"))
    pip = [str(program(venv, "python")), "-I", "-m", "pip", "install"]
    if not sys.stderr.isatty():
        pip.append("--quiet")
    if "dev" in wanted:  # The tests import a small part of the packages. Python compiles it then.
        pip.append("--no-compile")
    pip += ["--no-input", "--disable-pip-version-check", "-c", str(PROJECT / "constraints.txt")]
    if run([*pip, "-e", f"{PROJECT}[{','.join(wanted)}]"], lock):
        # pip changes nothing until it has downloaded everything, so an environment that was ready
        # still is.
        write_state(venv, before)
        raise SetupError(
            "pip could not install the packages: its output is above. Without a network "
            "or behind a proxy, set pip up first (pip config, PIP_PROXY). Then run this again."
        )
    write_state(venv, before._replace(extras=wanted, fingerprint=fingerprint()))
    say("installed")


def ensure(venv: Path, extras: Sequence[str], versions: Sequence[str]) -> None:
    if is_ready(venv, extras, versions):
        return
    with venv.with_name(venv.name + ".lock").open("ab") as lock:
        wait_for_lock(lock.fileno())
        if not is_ready(venv, extras, versions):
            set_up(venv, extras, versions, lock.fileno())


# --- the commands ----------------------------------------------------------------------


def serve_needs(arguments: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """Return the extras and Python versions that `callboard serve` needs for these arguments."""
    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--host", default="openusd")
    options.add_argument("--ui", action="store_true")
    options.add_argument("--debugpy")
    known, _ = options.parse_known_args(arguments)
    extras = [*HOST_EXTRAS.get(known.host, ["usd"]), *(["ui"] if known.ui else []), "skills"]
    extras += ["debug"] if known.debugpy else []
    return extras, BLENDER_VERSIONS if known.host == "blender" else VERSIONS


def test_options() -> argparse.ArgumentParser:
    """Return the parser for our own options of `test`, which may appear anywhere among pytest's."""
    ours = argparse.ArgumentParser(
        prog="bootstrap.py test",
        usage="bootstrap.py test [--all | --changed [REV]] [arguments for pytest]",
        description="Runs the quick tests. This takes about two minutes on two processors.",
        epilog="If you name test files, all of their tests run, in one process: "
        "tests/calls/test_batch.py -s",
        allow_abbrev=False,
    )
    ours.add_argument("--all", action="store_true", help="every test, including the slow ones")
    ours.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="REV",
        help="the quick tests affected by your changes since a commit",
    )
    return ours


def pytest_arguments(arguments: Sequence[str], python: str) -> list[str]:
    asked, given = test_options().parse_known_args(arguments)
    if asked.changed is not None:
        command = [python, str(PROJECT / "tests" / "touched.py"), "--since", asked.changed]
        picked = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8")
        if picked.returncode:
            sys.exit(picked.returncode)
        if not picked.stdout.strip():
            sys.exit(0)
        return [*QUICK, *given, *picked.stdout.split()]
    named = any(one.startswith(("tests/", "tests\\")) for one in given)
    return [*(ALL if asked.all else [] if named else QUICK), *given]


def tell_what_is_missing(arguments: Sequence[str], python: str) -> None:
    asked = [python, str(PROJECT / "tests" / "needed.py")]
    asked += ["--all"] if "--all" in arguments else []
    told = subprocess.run(asked, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    if told:
        say(told)


def keep_bytecode(venv: Path, variables: MutableMapping[str, str]) -> None:
    """Move the bytecode into the environment if the user doesn't want any among the sources.
    Without bytecode, each of the hundreds of test processes would compile everything again."""
    if variables.pop("PYTHONDONTWRITEBYTECODE", None):
        variables.setdefault("PYTHONPYCACHEPREFIX", str(venv / "bytecode"))


def start(command: list[str]) -> NoReturn:
    """Replace this process with the command. On systems where that is impossible, wait for the
    command and exit with its code."""
    if not WINDOWS:
        os.execv(command[0], command)
    child = subprocess.Popen(command)
    while True:
        # Control-C reaches the child as well, and the child decides how to end.
        with contextlib.suppress(KeyboardInterrupt):
            sys.exit(child.wait())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py",
        description="Sets up callboard in .venv, then runs it. Commands other than serve use "
        ".venv-test.",
        epilog="`test` runs the quick tests, `test --all` every test, `test --changed` those "
        "affected by your changes.",
    )
    parser.add_argument(
        "--python",
        choices=sorted(VERSIONS, key=VERSIONS.index),
        help="use this version, in environments of its own (.venv-3.12, .venv-test-3.12)",
    )
    parser.add_argument(
        "command",
        choices=["serve", "test", *PROGRAMS],
        help="the server, the tests, the docs pages, the hosts' archives, "
        "everything that is published",
    )
    parser.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        help="passed on to the command",
    )
    asked = parser.parse_args(arguments)
    kind = "" if asked.command == "serve" else "-test"
    venv = PROJECT / (".venv" + kind + ("-" + asked.python if asked.python else ""))
    if asked.command == "test":
        test_options().parse_known_args(asked.arguments)  # --help ends here
    if asked.command == "serve":
        extras, versions = serve_needs(asked.arguments)
    else:
        extras = TEST_EXTRAS if asked.command == "test" else PROGRAMS[asked.command][1]
        # Reading pyproject.toml needs a module that Python 3.10 doesn't have.
        newer = [version for version in VERSIONS if version != "3.10"]
        versions = newer if asked.command == "release" else VERSIONS
    if asked.python:
        versions = [version for version in versions if version == asked.python]
        if asked.command == "test" and asked.python not in BLENDER_VERSIONS:
            extras = [extra for extra in extras if extra != "blender"]
    try:
        if not versions:
            blender = "Blender as a module needs Python 3.11"
            needs = (
                "A release needs Python 3.11 or later" if asked.command == "release" else blender
            )
            raise SetupError(f"{needs}: leave --python out.")
        ensure(venv, extras, versions)
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"{error}. Fix that, then run this again.")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next run starts the set-up again")
        return 130
    if asked.command == "serve":
        start([str(program(venv, "callboard")), "serve", *asked.arguments])
    if asked.command in PROGRAMS:
        file = str(PROJECT / "packaging" / PROGRAMS[asked.command][0])
        start([str(program(venv, "python")), file, *asked.arguments])
    os.chdir(PROJECT)
    keep_bytecode(venv, os.environ)
    python = str(program(venv, "python"))
    if "--version" not in asked.arguments:
        tell_what_is_missing(asked.arguments, python)
    start([python, "-m", "pytest", *pytest_arguments(asked.arguments, python)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
