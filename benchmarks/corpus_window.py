"""Runs ``corpus.py``'s jobs in Blender's real window, on a screen of its own.

Every step is one tick of a timer of Blender's, as a client's call is, so that the window draws in
between. Needs Blender and Xvfb; ``CALLBOARD_BLENDER_ROOM`` names another Blender's folder, in which
the files have to be.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from corpus import Corpus

PROJECT = Path(__file__).resolve().parent.parent
for source in ("core", "hosts", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from hosts import blender_gui_rig as rig  # noqa: E402

#: Runs in Blender. The job's thread hands each of the stage's methods to a timer.
_INSIDE = """
import json, queue, sys, threading, traceback, types
from pathlib import Path
sys.path += [CODE]
import corpus, corpus_blender
from callboard_blender import addon

steps = queue.Queue()

def tick():
    while not steps.empty():
        steps.get()()
    return 0.0

class InTicks:
    def __init__(self, folder):
        self.stage = self.later(corpus_blender.Stage)(folder, addon.residence.app.host)

    def __getattr__(self, name):
        value = getattr(self.stage, name)
        return self.later(value) if callable(value) else value

    def later(self, method):
        def waiting(*arguments):
            outcome = queue.Queue()
            def step():
                try:
                    value = method(*arguments)
                    if isinstance(value, types.GeneratorType):
                        value = list(value)
                    outcome.put((value, None))
                except BaseException as error:
                    outcome.put((None, error))
            steps.put(step)
            value, error = outcome.get()
            if error is not None:
                raise error
            return value
        return waiting

def run():
    try:
        told = json.dumps(corpus.work(JOB, InTicks))
    except BaseException:
        told = json.dumps(traceback.format_exc(limit=-8))
    Path(TOLD + ".part").write_text(told)
    Path(TOLD + ".part").rename(TOLD)

bpy.app.timers.register(tick, persistent=True)
threading.Thread(target=run, daemon=True).start()
"""


class InAWindow(Corpus):
    """Runs each job in a Blender of its own, with its window and the add-on."""

    @cached_property
    def _archive(self) -> Path:
        return rig.build_addon(self._folder)

    def _run(self, job: dict[str, Any], deadline: float) -> tuple[dict[str, Any], str]:
        above = f"{rig.ROOM}/tmp" if rig.ROOM else None
        with (
            tempfile.TemporaryDirectory(dir=above, ignore_cleanup_errors=True) as made,
            rig.screen() as display,
        ):
            code, told, log = (str(Path(made, name)) for name in ("code", "told.json", "log.json"))
            shutil.copytree(PROJECT / "core" / "callboard_testing", f"{code}/callboard_testing")
            for name in ("corpus.py", "corpus_blender.py"):
                shutil.copy(PROJECT / "benchmarks" / name, code)
            archive = Path(shutil.copy(self._archive, made))
            names = {"CODE": code, "TOLD": told, "JOB": {**job, "log": log}}
            given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
            try:
                with rig.blender_gui(Path(made, "gui"), display) as gui:
                    rig.install(gui, archive)
                    gui.enable()
                    gui.run(given + _INSIDE)
                    gui.wait(Path(told).exists, "the report", deadline)
                outcome = json.loads(Path(told).read_text("utf-8"))
                return (outcome, "") if isinstance(outcome, dict) else ({}, outcome)
            except AssertionError as error:
                if Path(log).exists():
                    shutil.copy(log, job["log"])
                return {}, str(error)[-1500:]
