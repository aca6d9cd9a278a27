"""The host and the folder that the compliance suite's checks work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import SkipTest

from callboard.content import Json
from callboard.errors import HostError
from callboard.host import SCENE_MUTATE, SCENE_READ, Host, NotOffered
from callboard_testing.checks.samples import OBJECT
from callboard_testing.direct_calls import DirectCaller

#: The width of a cube whose width doesn't matter.
_ANY_SIZE = 2.0


@dataclass(frozen=True)
class Check:
    """One check. ``id`` is ``Class.method``. ``needs`` are the capabilities and the sample data
    without which the check is skipped."""

    id: str
    what: str
    needs: tuple[str, ...]
    suite: type


class Bench:
    """A host with an empty scene, and an empty folder, for one check. ``samples`` maps the names in
    ``checks/samples.py`` to functions that make such data in the host's own way. Each function
    takes the bench, and returns an object's path."""

    def __init__(
        self,
        host: Host,
        folder: Path,
        samples: Mapping[str, Callable[[Bench], str]] = MappingProxyType({}),
    ) -> None:
        self.host = host
        self.folder = folder
        self._samples = samples
        self.call = DirectCaller(host)

    def port(self, capability: str) -> Any:
        return self.host.ports[capability]

    @property
    def reader(self) -> Any:
        return self.port(SCENE_READ)

    @property
    def editor(self) -> Any:
        return self.port(SCENE_MUTATE)

    def cube(self, name: str | None = None, size: float = _ANY_SIZE) -> str:
        """Make a cube and return its path. If the host has no cubes, make an object sample, unless
        the size matters. If the name is taken, a suffix is added."""
        try:
            path: str = self.editor.create("cube", name, {"size": size})
        except NotOffered:
            if OBJECT not in self._samples or size != _ANY_SIZE:
                raise
            path = self._samples[OBJECT](self)
            if name is not None:
                path = self._renamed(path, name)
        return path

    def _renamed(self, path: str, name: str) -> str:
        taken = {entry["name"] for entry in self.reader.summaries()}
        new: str = self.editor.rename(path, f"{name}2" if name in taken else name)
        return new

    def sample(self, name: str, *, among: bool = False) -> str:
        """Make a sample, and return its path. If ``among`` is true, the sample is added to the
        scene as it is. Otherwise, the scene has little else in it."""
        if not among:
            # Data from another file can't always be deleted. A sample with such data brings its own
            # scene.
            with suppress(HostError):
                self.empty()
        return self._samples[name](self)

    def get(self, name: str) -> Json:
        entry: Json = self.reader.get(name)
        return entry

    def everything(self) -> list[Json]:
        """Return all objects, as the reader reports them."""
        return [self.get(path) for path in self.reader.names()]

    @contextmanager
    def step(self) -> Iterator[None]:
        """Wrap the block in one undo step, as the dispatcher does. If the host has no undo, only
        run the block."""
        undo = self.host.undo
        token = undo.begin("compliance") if undo is not None else None
        try:
            yield
        except BaseException:
            if undo is not None:
                undo.rollback(token)
            raise
        if undo is not None:
            undo.commit(token)

    def empty(self) -> None:
        """Delete every object, as an agent would. If agents can't delete, but there is an object
        sample, the host empties its scene. A host that only reads keeps its scene."""
        try:
            if SCENE_MUTATE in self.host.ports:
                if names := self.reader.names():
                    with self.step():
                        self.editor.delete(names)
                return
        except NotOffered:
            pass
        if OBJECT in self._samples:
            self.host.empty_scene()

    def run(self, check: Check) -> None:
        """Run a check on the main thread. Raises whatever the check raises, except that NotOffered
        is replaced with SkipTest."""
        self.empty()
        try:
            getattr(check.suite(), check.id.split(".")[1])(self)
        except NotOffered as reason:
            raise SkipTest(str(reason)) from None

    def missing(self, check: Check) -> list[str]:
        offered = {*self.host.ports, *self._samples}
        return [need for need in check.needs if need not in offered]
