"""The contract of a host, as checks: a new host is finished when these pass.

Run them with ``python -m callboard.testing --host NAME``, inside the application where there is
one, or take them one by one with :func:`checks` and :meth:`Bench.run` from pytest. A check that
needs a capability the host doesn't offer is skipped, and says so; nothing else is skipped.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from callboard.content import Json
from callboard.host import SCENE_MUTATE, SCENE_READ, Host
from callboard.testing import (
    check_animation,
    check_files,
    check_objects,
    check_render,
    check_scripts,
    check_skills,
    check_undo,
    check_viewport,
)
from callboard.testing.direct import DirectCaller

Outcome = Literal["ok", "skipped", "failed"]

_MODULES = (
    check_objects,
    check_undo,
    check_files,
    check_render,
    check_viewport,
    check_animation,
    check_scripts,
    check_skills,
)


@dataclass(frozen=True)
class Check:
    """``id`` is ``Class.method``; ``needs`` the capabilities without which it is skipped."""

    id: str
    what: str
    needs: tuple[str, ...]
    suite: type


def checks() -> Iterator[Check]:
    """All of them, in an order that reads from simple to composed."""
    for module in _MODULES:
        for name, suite in vars(module).items():
            if not inspect.isclass(suite) or suite.__module__ != module.__name__:
                continue
            for method, function in vars(suite).items():
                if method.startswith("test_"):
                    needs = tuple(getattr(suite, "needs", ()))
                    what = inspect.getdoc(function) or method
                    yield Check(f"{name}.{method}", what, needs, suite)


class Bench:
    """What a check works with: a host whose scene is empty, and an empty folder."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder
        self.call = DirectCaller(host)

    def port(self, capability: str) -> Any:
        return self.host.ports[capability]

    @property
    def reader(self) -> Any:
        return self.port(SCENE_READ)

    @property
    def editor(self) -> Any:
        return self.port(SCENE_MUTATE)

    def cube(self, name: str | None = None, size: float = 2.0) -> str:
        path: str = self.editor.create("cube", name, {"size": size})
        return path

    def get(self, name: str) -> Json:
        found: Json = self.reader.get(name)
        return found

    def everything(self) -> list[Json]:
        """What the reader tells of the whole scene."""
        return [self.get(path) for path in self.reader.names()]

    @contextmanager
    def step(self) -> Iterator[None]:
        """One undo step around the block, as the dispatcher makes them; none where the host has
        no undo."""
        undo = self.host.undo
        token = undo.begin("compliance") if undo is not None else None
        yield
        if undo is not None:
            undo.commit(token)

    def empty(self) -> None:
        """Deletes every object, as an agent would."""
        if SCENE_MUTATE in self.host.ports and (names := self.reader.names()):
            with self.step():
                self.editor.delete(names)

    def run(self, check: Check) -> None:
        """Raises what the check raises. Main thread."""
        self.empty()
        getattr(check.suite(), check.id.split(".")[1])(self)

    def missing(self, check: Check) -> list[str]:
        return [need for need in check.needs if need not in self.host.ports]


def run_all(host: Host, only: str = "") -> Iterator[tuple[Check, Outcome, str]]:
    """Runs the checks whose id holds ``only``; yields each with its outcome, and why."""
    for check in checks():
        if only not in check.id:
            continue
        with TemporaryDirectory(prefix="callboard-") as folder:
            bench = Bench(host, Path(folder).resolve())
            if missing := bench.missing(check):
                yield check, "skipped", f"the host doesn't offer {', '.join(missing)}"
                continue
            try:
                bench.run(check)
            except Exception:
                yield check, "failed", traceback.format_exc()
            else:
                yield check, "ok", ""
