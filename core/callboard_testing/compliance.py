"""Checks a host's contract. A new host is finished when all checks pass.

Run them with ``python -m callboard_testing --host NAME``, inside the application if there is one,
or run them one at a time from pytest with :func:`checks` and :meth:`Bench.run`. A check is skipped,
with the reason, only if it needs a capability that the host doesn't offer, or a sample that isn't
provided.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Literal
from unittest import SkipTest

from callboard.host import Host
from callboard_testing.bench import Bench, Check
from callboard_testing.checks import (
    animation,
    assets,
    cameras,
    docs,
    exchange,
    file,
    files,
    finding,
    geometry,
    lights,
    look,
    materials,
    modelling,
    objects,
    render,
    scripts,
    shared,
    skills,
    structure,
    undo,
    viewport,
)
from callboard_testing.checks import check as scene_check

__all__ = ["Bench", "Check", "Outcome", "checks", "run_all"]

Outcome = Literal["ok", "skipped", "failed"]

_MODULES = (
    objects,
    undo,
    structure,
    materials,
    lights,
    cameras,
    files,
    file,
    finding,
    exchange,
    assets,
    geometry,
    modelling,
    render,
    viewport,
    look,
    scene_check,
    animation,
    scripts,
    docs,
    shared,
    skills,
)


def checks() -> Iterator[Check]:
    """Yield all checks, from simple to composite ones."""
    for module in _MODULES:
        for name, suite in vars(module).items():
            if not inspect.isclass(suite) or suite.__module__ != module.__name__:
                continue
            for method, function in vars(suite).items():
                if method.startswith("test_"):
                    needs = tuple(getattr(suite, "needs", ()))
                    what = inspect.getdoc(function) or method
                    yield Check(f"{name}.{method}", what, needs, suite)


def run_all(
    host: Host, only: str = "", samples: Mapping[str, Callable[[Bench], str]] = MappingProxyType({})
) -> Iterator[tuple[Check, Outcome, str]]:
    """Run the checks whose id contains ``only``, with the samples that ``Bench`` describes. Yield
    each check with its outcome and the reason."""
    for check in checks():
        if only not in check.id:
            continue
        with TemporaryDirectory(prefix="callboard-") as folder:
            bench = Bench(host, Path(folder).resolve(), samples)
            if missing := bench.missing(check):
                yield check, "skipped", f"the host doesn't offer {', '.join(missing)}"
                continue
            try:
                bench.run(check)
            except SkipTest as reason:
                yield check, "skipped", str(reason)
            except Exception:
                yield check, "failed", traceback.format_exc()
            else:
                yield check, "ok", ""
