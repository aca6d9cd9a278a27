"""The shared part of the scripts ``first_run_*.py``. It tests an archive inside the application
that it was built for, from a temporary folder, and writes a report. Uses only what comes with
Python until the archive is unpacked."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

#: Facts that only the application itself can report: a sentence about each fact, and a function
#: that determines it.
Probes = Mapping[str, Callable[[Any], object]]


def run(kind: str, archive: str, version: Callable[[], str], probes: Probes) -> int:
    """Test the archive in this application, and write ``callboard-first-run-KIND.json`` next to it.
    The archive is in the current folder or, because an application may change that folder, next to
    this file. Return 0 if everything passed, 1 if something failed, and 2 if there is no archive.
    Without an archive nothing is written. Only the report is left behind."""
    places = (Path.cwd(), Path(__file__).resolve().parent)
    place = next((each for each in places if archive and (each / archive).is_file()), None)
    if place is None:
        print(
            f"There is no archive '{archive}' here. Put callboard-{kind}-….zip beside this script"
        )
        print("and give its whole name, with the version in it, as first_run.md says.")
        return 2
    began, folder = time.time(), Path(tempfile.mkdtemp(prefix="callboard-first-run-"))
    report: dict[str, Any] = {"host": kind, "system": platform.platform(), "python": sys.version}
    try:
        os.environ["CALLBOARD_HOME"] = str(folder / "home")
        # The archive is on the path before the tests' own modules.
        sys.path += [str(_unpacked(place / archive, folder)), str(Path(__file__).resolve().parent)]
        report.update(_tried(kind, version, probes))
    except BaseException:
        report["broke"] = traceback.format_exc()
    shutil.rmtree(folder, ignore_errors=True)
    report["left_behind"] = [str(folder)] if folder.exists() else []
    report["seconds"] = round(time.time() - began)
    written = place / f"callboard-first-run-{kind}.json"
    written.write_text(_without_names(json.dumps(report, indent=1), folder), encoding="utf-8")
    good = "broke" not in report and not report["failed"] and report["served"] == "ok"
    print(f"callboard in {kind}: {'every check passed' if good else 'some checks failed'}")
    print(f"Please send this file back: {written}")
    return 0 if good else 1


def _unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the archive. Return the folder inside it that Python imports from."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "unpacked")
    callboard = next((folder / "unpacked").rglob("python/callboard/__init__.py"), None)
    if callboard is None:
        raise FileNotFoundError(f"{archive} isn't an archive made by packaging/build.py")
    return callboard.parents[1]


def _tried(kind: str, version: Callable[[], str], probes: Probes) -> dict[str, Any]:
    from callboard import __version__
    from callboard.guest.inbox import MainThreadInbox
    from callboard.host_kit.headless import make_host
    from callboard_testing.compliance import run_all

    inbox = MainThreadInbox()
    host = make_host(kind, inbox.post)
    try:
        outcomes: Counter[str] = Counter()
        tried: dict[str, Any] = {"callboard": __version__, "application": version()}
        # The plug-ins for which callboard has tools come with the application, and aren't always
        # loaded.
        loads = {one.name: one.load for one in host.plug_ins.values() if one.load is not None}
        tried["plug_ins"] = {
            name: _seen(partial(_loaded, load), host) for name, load in loads.items()
        }
        tried["failed"], tried["skipped"] = {}, {}
        for check, outcome, why in run_all(host):
            outcomes[outcome] += 1
            if outcome != "ok":
                tried[outcome][check.id] = why
            print(f"{outcome:8}{check.id}", flush=True)
        tried["outcomes"] = dict(outcomes)
        tried["probes"] = {sentence: _seen(probe, host) for sentence, probe in probes.items()}
        tried["served"] = _served(host, inbox)
        return tried
    finally:
        host.close()


def _loaded(load: Callable[[], None], host: Any) -> str:
    load()
    return "loaded"


def _seen(probe: Callable[[Any], object], host: Any) -> str:
    try:
        return str(probe(host))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _served(host: Any, inbox: Any) -> str:
    """Make an object over HTTP as a client, have a call fail, and undo the object."""
    from callboard.app import start
    from callboard.config import McpHttpConfig
    from callboard_programs.client import Client

    server = start(host, McpHttpConfig(announce=False, records=False, rules=False))
    outcome: list[str] = []

    def talk() -> None:
        try:
            with Client(server.url, server.token) as client:

                def call(tool: str, **arguments: Any) -> Any:
                    return client.request("tools/call", {"name": tool, "arguments": arguments})

                made = call("scene__create_primitive", kind="cube", name="First")
                assert not made["isError"], made
                assert call("scene__transform", name="nobody", translate=[1, 2, 3])["isError"]
                listed = call("scene__list_objects")["structuredContent"]
                assert "First" in json.dumps(listed), listed
                assert not call("scene__delete", names=["First"])["isError"]
            outcome.append("ok")
        except BaseException:
            outcome.append(traceback.format_exc())
        finally:
            inbox.stop()

    talking = threading.Thread(target=talk, name="callboard first run")
    talking.start()
    inbox.run()
    talking.join()
    server.stop()
    return outcome[0]


def _without_names(text: str, folder: Path) -> str:
    """Return the text without the names of this machine's folders."""
    for path, word in ((str(folder), "TEMPORARY"), (str(Path.home()), "HOME")):
        text = text.replace(json.dumps(path)[1:-1], word)
    return text
