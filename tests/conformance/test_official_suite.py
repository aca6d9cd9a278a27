"""The official conformance suite, for both eras, against servers on every kind of loop.

npm installs the suite once, into a folder in the user's cache; see ``package.json`` beside this
file. Without npm, the tests are skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Thread
from typing import Any, BinaryIO

import platformdirs
import pytest
import yaml

from blender_program import blender_environment
from needed import need
from one_era import ERAS
from serving import served

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SUITE = Path("node_modules", "@modelcontextprotocol", "conformance")

#: Unscored scenarios that callboard doesn't pass, each with the reason.
NOT_OURS = {
    "2025-11-25": set[str](),
    "2026-07-28": {
        # A client without the tasks extension gets a job's id, and polls jobs__status.
        "tasks-required-task-error",
        # A job asks its questions while it runs, through tasks/get, not before it is made.
        "tasks-mrtr-composition",
    },
}
#: Maximum seconds until a server reports that it is ready, and until it has stopped.
START, STOP = 60, 20


# -- the suite ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def suite() -> Path:
    """Return the folder with the installed suite."""
    need("npm")
    wanted = (HERE / "package.json").read_bytes()
    version = hashlib.sha256(wanted).hexdigest()[:12]
    folder = platformdirs.user_cache_path("callboard") / f"conformance-{version}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as building:
            Path(building, "package.json").write_bytes(wanted)
            install(Path(building))
            # If another process was faster, the folder exists already, and this process discards
            # its own.
            if not folder.is_dir():
                Path(building).rename(folder)
                Path(building).mkdir()
    return folder


def install(folder: Path) -> None:
    options = ("--no-audit", "--no-fund", "--no-package-lock", "--no-progress")
    done = subprocess.run(
        [str(shutil.which("npm")), "install", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    if done.returncode:
        problem = f"npm could not install the suite: {done.stderr.strip()[-400:]}"
        if os.environ.get("CI") == "true":
            pytest.fail(problem)
        pytest.skip(problem)


@dataclass
class Outcome:
    """The results of one run of the suite, by scenario."""

    exit_code: int
    output: str
    checks: dict[str, list[dict[str, Any]]]

    def named(self, *statuses: str) -> dict[str, list[str]]:
        """Return the checks with one of these statuses, as text, by scenario."""
        by_scenario = {
            scenario: [
                f"{c['id']}: {c.get('errorMessage')}" for c in checks if c["status"] in statuses
            ]
            for scenario, checks in self.checks.items()
        }
        return {scenario: problems for scenario, problems in by_scenario.items() if problems}


def run_suite(
    suite: Path, url: str, revision: str, results: Path, scenario: str | None = None
) -> Outcome:
    """Run every scenario of a revision, or a single scenario of an extension, which isn't in the
    revision's list."""
    program = suite / "node_modules" / ".bin" / ("node.exe" if os.name == "nt" else "node")
    script = suite / SUITE / "dist" / "index.js"
    which = ["--requirements", revision]
    if scenario is not None:
        which = ["--spec-version", revision, "--scenario", scenario, "--force"]
    done = subprocess.run(
        [program, script, "server", "--url", url, *which, "-o", results],
        capture_output=True,
        text=True,
        timeout=150,
        # The server is on this machine, so no proxy is used.
        env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
    )
    checks: dict[str, list[dict[str, Any]]] = {}
    for file in results.glob("server-*/checks.json"):
        scenario = file.parent.name.removeprefix("server-")[: -len("-2026-01-01T00-00-00-000Z")]
        checks[scenario] = json.loads(file.read_text(encoding="utf-8"))
    return Outcome(done.returncode, done.stdout + done.stderr, checks)


def scenarios(suite: Path, revision: str) -> tuple[set[str], set[str]]:
    """Return the scored and the unscored scenarios of one revision."""
    file = suite / SUITE / "requirements" / f"{revision}.yaml"
    listed = yaml.safe_load(file.read_text(encoding="utf-8"))
    unscored = {e["scenario"] for e in listed["not_scored"] if e["leg"] == "server"}
    return set(listed["server"]), unscored


# -- the servers ----------------------------------------------------------------------------


def environment(home: Path | str) -> dict[str, str]:
    """Return the environment of a server that writes only into ``home``."""
    # Add the installed packages, but not this Python's standard library, because Blender has its
    # own.
    folders = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    folders = [str(PROJECT / "core"), str(PROJECT / "hosts"), *folders]
    mine = {name: v for name, v in blender_environment().items() if "SKILL_PATHS" not in name}
    return {
        **mine,
        "PYTHONPATH": os.pathsep.join(folders),
        "CALLBOARD_HOME": str(home),
        "QT_QPA_PLATFORM": "offscreen",
    }


def openusd() -> list[str]:
    need("pxr")
    return [sys.executable, str(HERE / "server.py"), "--host", "openusd"]


def blender_module() -> list[str]:
    need("bpy")
    return [sys.executable, str(HERE / "server.py"), "--host", "blender"]


def blender_program() -> list[str]:
    need("blender")
    blender = str(shutil.which("blender"))
    asked = [blender, "-b", "--factory-startup", "--python-expr"]
    version = "import sys; print('python', *sys.version_info[:2])"
    answer = subprocess.run(
        [*asked, version],
        capture_output=True,
        text=True,
        timeout=60,
        env=blender_environment(),
    ).stdout
    ours = f"python {sys.version_info.major} {sys.version_info.minor}"
    if ours not in answer:
        pytest.skip("callboard's requirements are installed for a Python other than Blender's")
    script = ["--python-exit-code", "1", "--python", str(HERE / "server.py")]
    command = [blender, "-b", "--factory-startup", "--python-use-system-env", *script]
    return [*command, "--", "--host", "blender"]


def qt() -> list[str]:
    need("qt")
    return [sys.executable, str(HERE / "qt_server.py")]


def windows() -> list[str]:
    """Return the command for a Windows Python under Wine. CI makes that Python, and sets
    CALLBOARD_WINDOWS."""
    made = os.environ.get("CALLBOARD_WINDOWS")
    if made is None:
        pytest.skip("CALLBOARD_WINDOWS must name a folder made by packaging/windows_python.py")
    runner = str(PROJECT / "packaging" / "windows_python.py")
    return [
        sys.executable,
        runner,
        "run",
        made,
        "--",
        "-m",
        "conformance.server",
        "--host",
        "openusd",
    ]


def gateway() -> list[str]:
    return [sys.executable, "-m", "callboard", "gateway"]


HOSTS = {
    "plain loop": openusd,
    "bpy": blender_module,
    "blender -b": blender_program,
    "Qt's loop": qt,
    "Windows": windows,
}
#: The gateway, which is started like the hosts but isn't one.
GATEWAY = "gateway"


@contextmanager
def server(host: str, home: Path, *options: str) -> Iterator[str]:
    """Yield a server's URL. Afterwards the server must end on request, without an error."""
    command = gateway() if host == GATEWAY else [*HOSTS[host](), *options]
    on_windows = "Windows" in (host, platform.system())
    ready: Queue[str | None] = Queue()
    with TemporaryFile() as log:
        process = subprocess.Popen(
            [*command, "--port", "0", "--auth", "none"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment(f"Z:{home}" if host == "Windows" else home),
        )
        reader = Thread(target=read_ready_line, args=(process.stdout, ready))
        reader.start()
        try:
            url = ready.get(timeout=START)
            assert url is not None, f"server ended with {process.wait(STOP)} before it was ready"
            yield url
            process.send_signal(signal.SIGTERM)
            code = process.wait(STOP)
            # Windows has no signal that a process could handle.
            assert code == 0 or on_windows, f"server ended with {code}"
        except BaseException:
            print(written(log), file=sys.stderr)
            raise
        finally:
            process.kill()
            process.wait()
            reader.join()
        complaints = written(log)
    assert "Traceback" not in complaints, complaints


def read_ready_line(stdout: Any, ready: Queue[str | None]) -> None:
    """Put the ready line's URL into the queue. Blender prints other lines first. Reading goes on
    afterwards, so that the pipe doesn't fill up."""
    with stdout:
        for line in stdout:
            if line.startswith(b"{"):
                ready.put(json.loads(line)["url"])
    ready.put(None)


def written(log: BinaryIO) -> str:
    log.seek(0)
    return log.read().decode("utf-8", "replace")[-4000:]


# -- the tests ------------------------------------------------------------------------------


@pytest.mark.timeout(400)
@pytest.mark.parametrize("host", HOSTS)
def test_every_scored_scenario_passes_in_both_eras(host: str, suite: Path, tmp_path: Path) -> None:
    with server(host, tmp_path) as url:
        pass_every_scored_scenario(suite, url, tmp_path)


@pytest.mark.timeout(400)
def test_they_pass_through_the_gateway(suite: Path, tmp_path: Path) -> None:
    with server("plain loop", tmp_path, "--announce"), server(GATEWAY, tmp_path) as url:
        pass_every_scored_scenario(suite, f"{url}/openusd", tmp_path)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("era", ERAS)
def test_they_pass_through_the_gateway_with_one_era_behind_it(
    era: str, suite: Path, tmp_path: Path
) -> None:
    if "CALLBOARD_EVERY_SCENARIO" not in os.environ:
        pytest.skip("takes 45 s for each era; set CALLBOARD_EVERY_SCENARIO=1 to run it")
    with one_era_behind_a_gateway(era, tmp_path) as url:
        for revision in NOT_OURS:
            outcome = run_suite(suite, url, revision, tmp_path / revision)
            scored, _ = scenarios(suite, revision)
            assert scored <= set(outcome.checks), outcome.output[-3000:]
            wrong = outcome.named("FAILURE", "WARNING")
            assert not set(wrong) & scored, json.dumps(wrong, indent=1)


def test_a_session_passes_through_a_gateway_to_a_stateless_host(
    suite: Path, tmp_path: Path
) -> None:
    """Of the scenarios above, this one is part of every test run."""
    with one_era_behind_a_gateway("stateless", tmp_path) as url:
        outcome = run_suite(suite, url, "2025-11-25", tmp_path, "tools-call-elicitation")
    (checks,) = outcome.checks.values()
    assert {check["status"] for check in checks} == {"SUCCESS"}, outcome.output[-3000:]


@contextmanager
def one_era_behind_a_gateway(era: str, home: Path) -> Iterator[str]:
    alone = ("--announce", "--only", era)
    with server("plain loop", home, *alone), server(GATEWAY, home) as url:
        yield f"{url}/openusd"


def pass_every_scored_scenario(suite: Path, url: str, results: Path) -> None:
    for revision, not_ours in NOT_OURS.items():
        outcome = run_suite(suite, url, revision, results / revision)
        scored, unscored = scenarios(suite, revision)
        states = Counter(c["status"] for s in scored for c in outcome.checks.get(s, []))
        print(f"{revision}: {len(scored)} scored scenarios, {dict(states)}")

        assert scored | unscored == set(outcome.checks), outcome.output[-3000:]
        # A warning means that callboard doesn't do something that the specification recommends.
        wrong = outcome.named("FAILURE", "WARNING")
        assert set(wrong) == not_ours, json.dumps(wrong, indent=1)
        assert not scored & not_ours
        assert outcome.exit_code == 0
        assert states["SUCCESS"] >= len(scored)


@pytest.mark.timeout(200)
def test_the_skills_extension_passes_its_own_scenario(suite: Path, tmp_path: Path) -> None:
    with served(skills=True, auth="none") as running:
        scenario = "sep-2640-skills-enumeration"
        outcome = run_suite(suite, running.app.url, "2026-07-28", tmp_path, scenario)
    (checks,) = outcome.checks.values()
    assert len(checks) > 30, outcome.output[-3000:]
    assert {check["status"] for check in checks} == {"SUCCESS"}, outcome.output[-3000:]
