"""The contract of a host, as checks: a new host is finished when these pass.

Run them with ``python -m callboard.testing --host NAME``, inside the application where there is
one, or take them one by one with :func:`checks` and :meth:`Bench.run` from pytest. A check that
needs a capability the host doesn't offer is skipped, and says so; nothing else is skipped.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from callboard.host import Host
from callboard.testing import (
    check_animation,
    check_assets,
    check_cameras,
    check_checks,
    check_docs,
    check_exchange,
    check_files,
    check_geometry,
    check_lights,
    check_look,
    check_materials,
    check_modelling,
    check_objects,
    check_render,
    check_scripts,
    check_shared,
    check_skills,
    check_structure,
    check_undo,
    check_viewport,
)
from callboard.testing.bench import Bench, Check

__all__ = ["Bench", "Check", "Outcome", "checks", "run_all"]

Outcome = Literal["ok", "skipped", "failed"]

_MODULES = (
    check_objects,
    check_undo,
    check_structure,
    check_materials,
    check_lights,
    check_cameras,
    check_files,
    check_exchange,
    check_assets,
    check_geometry,
    check_modelling,
    check_render,
    check_viewport,
    check_look,
    check_checks,
    check_animation,
    check_scripts,
    check_docs,
    check_shared,
    check_skills,
)


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
