"""Runs the self-test in one application, and makes its report."""

from __future__ import annotations

import asyncio
import datetime
import logging
import platform
import re
from collections.abc import Awaitable, Callable, Collection
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

log = logging.getLogger(__name__)

#: The version of the report's format. A changed format gets a new number.
FORM = 1
#: The question that the person is asked before the self-test takes over the scene, and the one
#: before unsaved work is lost.
ASKED = (
    "The self-test replaces the scene with an empty one, works in it for about two minutes, and "
    "leaves it empty. In the meantime, agents have to wait. The report stays on this machine "
    "until you send it, and has no names and no paths."
)
UNSAVED = "The scene has unsaved work, which would be lost."
#: The findings for a check that has begun, and for the checks after it, in the report that is kept
#: in case the application ends.
BEGUN = "the application ended during this check"
NOT_BEGUN = "not reached: the application ended before this check"
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
        try:
            return reader is not None and bool(reader.info().get("modified"))
        except Exception:  # An adapter that was never run may fail here, too.
            log.exception("the self-test can't tell whether the scene has unsaved work")
            return True

    def start(self, ended: Callable[[Path | None, str], None]) -> None:
        """Run the self-test for a person who has agreed to lose any unsaved work, and write the
        report into callboard's own folder. If the application ends before the test does, the folder
        contains the report so far. ``ended`` is called on the main thread with the page, or None,
        and with a sentence. Call it on any thread."""

        async def keep(report: Json) -> Path:
            return await asyncio.to_thread(written, report, data_folder() / "self-tests")

        async def whole() -> None:
            outcome: tuple[Path | None, str]
            try:
                report = await self.run(discard=True, keep=keep)
                file = await keep(report)
                outcome = file, f"{summary(report)}. The report is {file}"
            except Exception as error:
                if not isinstance(error, (HostError, OSError)):
                    log.exception("the self-test ended without a report")
                outcome = None, f"The self-test didn't run: {sentence_of(error)}"
            self._host.post(lambda: ended(*outcome))

        loop = self._loop
        loop.call_soon_threadsafe(lambda: loop.create_task(whole()))

    async def run(
        self,
        *,
        discard: bool,
        only: Collection[str] = (),
        keep: Callable[[Json], Awaitable[object]] | None = None,
    ) -> Json:
        """Return the report. ``discard`` is true if the person has agreed to lose unsaved work.
        ``only`` are the names of the checks to run, if not all. ``keep`` is called before each
        check with the report so far. Raises HostBusy or HostError before anything is changed. Call
        it on the server's loop."""
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

                def with_checks(checks: list[Json]) -> Json:
                    seconds = round(perf_counter() - began)
                    who = self._host.identity
                    told = {**report, "checks": checks, "seconds": seconds}
                    clean: Json = impersonal(told, f"{who.kind} {who.name}")
                    return clean

                async def so_far(checks: list[Json]) -> None:
                    if keep is not None:
                        await keep(with_checks(checks))

                return with_checks(await self._checked(trial, only, so_far))
        finally:
            self._runs = False
            if not paused:
                dispatcher.resume()

    async def _about(self, trial: Trial, *, first: bool) -> Json:
        who, toolkit = self._host.identity, "none"
        try:
            toolkit = str(await trial.main(trial.act("toolkit")))
        except NotOffered:
            pass
        except GONE:
            raise
        except Exception as error:
            toolkit = f"unknown ({sentence_of(error)})"
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

    async def _checked(
        self,
        trial: Trial,
        only: Collection[str],
        so_far: Callable[[list[Json]], Awaitable[None]],
    ) -> list[Json]:
        new_scene = self._host.acts.get("new_scene", self._host.empty_scene)
        outcomes: list[Json] = []
        gone = ""
        for number, check in enumerate(CHECKS, start=1):
            if not gone and (not only or check.name in only):
                begun = _outcome(check, Findings(faults=[BEGUN]))
                rest = (_outcome(each, Findings(absent=[NOT_BEGUN])) for each in CHECKS[number:])
                await so_far([*outcomes, begun, *rest])
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
        if outcomes and not gone:
            try:
                await trial.main(new_scene, "change")
            except Exception as error:  # A failure here must not lose the findings.
                broke = sentence_of(error)
                into.faults.append(f"the scene couldn't be emptied afterwards: {broke}")
                outcomes[-1] = _outcome(check, into)
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


def impersonal(value: Any, application: str = "") -> Any:
    """Return the report without paths, and without the names of the user and the machine. Words in
    ``application`` are kept, because otherwise the name of a user called Max would also be removed
    from "3ds Max"."""
    clean = Redactor().text
    known = {platform.node(), platform.node().partition(".")[0], Path.home().name}
    own = application.lower().split()
    names = [name for name in known if len(name) > 1 and name.lower() not in own]
    # The longest name is tried first, because a machine's full name begins with its short name.
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)"
    named = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def without(each: Any, foreign: bool = False) -> Any:
        if isinstance(each, str):
            return named.sub("[name]", _PATH.sub("[path]", clean(each)))
        if isinstance(each, dict):
            # The keys are callboard's own, except in the data that comes from the application.
            return {
                without(key) if foreign else key: without(one, foreign or key == "data")
                for key, one in each.items()
            }
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
