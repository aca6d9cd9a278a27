"""Runs the self-test in one application, and makes its report."""

from __future__ import annotations

import asyncio
import datetime
import platform
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from callboard.calls.dispatcher import Dispatcher
from callboard.content import Json
from callboard.errors import HostBusy, HostError
from callboard.ground.atomic_write import replacing_bytes
from callboard.ground.folders import data_folder
from callboard.ground.version import __version__
from callboard.ports.capability_names import SCENE_READ
from callboard.ports.edit import NotOffered
from callboard.ports.host import Host
from callboard.protocol.jsonrpc import encode
from callboard.records.redaction import Redactor
from callboard.selftest.checks import CHECKS, SelfCheck, sentence_of
from callboard.selftest.page import page
from callboard.selftest.trial import GONE, Findings, Trial

#: The version of the report's form. A different form gets a different number.
FORM = 1
#: The question that the person is asked before the self-test takes over the scene, and the one
#: before unsaved work is lost.
ASKED = (
    "The self-test replaces the scene with an empty one, works in it for about two minutes, and "
    "leaves it empty. Agents have to wait meanwhile. The report stays on this machine until you "
    "send it, and has no names and no paths."
)
UNSAVED = "The scene has unsaved work, which would be lost."
_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:[\\/]|[\\/]{1,2}(?=\w))[^\s'\"<>|]+")


class SelfTest:
    """The self-test of one application."""

    def __init__(self, host: Host, loop: asyncio.AbstractEventLoop, dispatcher: Dispatcher) -> None:
        self._host = host
        self._loop = loop
        self._dispatcher = dispatcher
        self._runs = self._ran = False

    def question(self) -> str:
        """Return the question that the person is asked before the self-test. Call it on the main
        thread."""
        return f"{ASKED} {UNSAVED}" if self._unsaved() else ASKED

    def _unsaved(self) -> bool:
        reader: Any = self._host.ports.get(SCENE_READ)
        return reader is not None and bool(reader.info().get("modified"))

    def start(self, ended: Callable[[Path | None, str], None]) -> None:
        """Run the self-test for a person who has agreed to lose any unsaved work, and write the
        report into callboard's own folder. ``ended`` is called on the main thread with the page,
        or None, and with a sentence. Call it on any thread."""

        async def whole() -> None:
            outcome: tuple[Path | None, str]
            try:
                report = await self.run(discard=True)
                file = await asyncio.to_thread(written, report, data_folder() / "self-tests")
                outcome = file, f"{summary(report)}. The report is {file}"
            except (HostError, OSError) as error:
                outcome = None, f"The self-test didn't run: {error}"
            self._host.post(lambda: ended(*outcome))

        loop = self._loop
        loop.call_soon_threadsafe(lambda: loop.create_task(whole()))

    async def run(self, *, discard: bool, only: Collection[str] = ()) -> Json:
        """Return the report. ``discard`` is true if the person has agreed to lose unsaved work.
        ``only`` are the names of the checks to run, if not all. Raises HostBusy or HostError before
        anything is changed. Call it on the server's loop."""
        dispatcher, began = self._dispatcher, perf_counter()
        if self._runs or dispatcher.calls:
            what = "a self-test is" if self._runs else "calls are"
            raise HostBusy(f"{what} running; start the self-test once nothing is running")
        paused, self._runs = dispatcher.paused, True
        dispatcher.pause()
        try:
            with TemporaryDirectory(prefix="callboard-self-test-") as folder:
                trial = Trial(self._host, self._loop, dispatcher.main, Path(folder).resolve())
                if not discard and await trial.main(self._unsaved):
                    raise HostError(f"{UNSAVED} Save it first, or agree to lose it")
                report = await self._about(trial, first=not (self._ran or dispatcher.changed.all()))
                self._ran = True
                report["checks"] = await self._checked(trial, only)
        finally:
            self._runs = False
            if not paused:
                dispatcher.resume()
        report["seconds"] = round(perf_counter() - began)
        clean: Json = impersonal(report)
        return clean

    async def _about(self, trial: Trial, *, first: bool) -> Json:
        who, toolkit = self._host.identity, "none"
        with suppress(NotOffered):
            toolkit = str(await trial.main(trial.act("toolkit")))
        return {
            "self_test": FORM,
            "callboard": __version__,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "application": {"kind": who.kind, "name": who.name, "version": who.version},
            "window": not who.headless,
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "toolkit": toolkit,
            "first_act": first,
        }

    async def _checked(self, trial: Trial, only: Collection[str]) -> list[Json]:
        new_scene = self._host.acts.get("new_scene", self._host.empty_scene)
        outcomes, gone = [], ""
        for check in CHECKS:
            into = Findings()
            try:
                if only and check.name not in only:
                    into.absent.append("left out")
                elif gone:
                    into.absent.append(f"not reached: {gone}")
                else:
                    await trial.main(new_scene, "change")
                    await check.run(trial, into)
            except GONE as error:
                if isinstance(error, asyncio.CancelledError) and self._dispatcher.closed:
                    raise
                gone = str(error) or "the self-test was stopped"
                into.faults.append(gone)
            except NotOffered as why:
                into.absent.append(why.message)
            except Exception as error:
                into.faults.append(sentence_of(error))
            outcomes.append(_outcome(check, into))
        if not gone:
            await trial.main(new_scene, "change")
        return outcomes


def _outcome(check: SelfCheck, into: Findings) -> Json:
    outcome = "fault" if into.faults else "ok" if into.good else "not offered"
    return {
        "name": check.name,
        "title": check.title,
        "outcome": outcome,
        "use": check.use,
        "faults": into.faults,
        "good": into.good,
        "absent": into.absent,
        "data": into.data,
    }


def impersonal(value: Any) -> Any:
    """Return the report without paths, and without the user's and the machine's names."""
    clean = Redactor().text
    known = {platform.node(), platform.node().partition(".")[0], Path.home().name}
    words = "|".join(re.escape(name) for name in known if len(name) > 1) or "(?!)"
    named = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def without(each: Any) -> Any:
        if isinstance(each, str):
            return named.sub("[name]", _PATH.sub("[path]", clean(each)))
        if isinstance(each, dict):
            return {without(key): without(one) for key, one in each.items()}
        return [*map(without, each)] if isinstance(each, (list, tuple)) else each

    return without(value)


def summary(report: Json) -> str:
    """Return the outcome in a sentence."""
    of = [each["outcome"] for each in report["checks"]]
    faults = [each["title"] for each in report["checks"] if each["outcome"] == "fault"]
    ended = f"Checks: {of.count('ok')} work, {of.count('not offered')} not offered here"
    return f"{ended}, {len(faults)} with faults" + (f": {'; '.join(faults)}" if faults else "")


def written(report: Json, folder: Path) -> Path:
    """Write the report into the folder as JSON and as a page. Return the page."""
    about = report["application"]
    version = re.sub(r"[^\w.]+", "-", about["version"])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"callboard-self-test-{about['kind']}-{version}"
    texts = {".json": encode(report), ".html": page(report, summary(report)).encode()}
    for suffix, text in texts.items():
        with replacing_bytes(f"{file}{suffix}") as part:
            part.write(text)
    return file.with_name(f"{file.name}.html")
