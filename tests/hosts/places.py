"""The two ways in which an application's double is tested: with a GUI, and also without one if the
application then behaves differently. Inside the application itself, tests run without a GUI."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from callboard.host import FILE, MODELLING
from callboard_testing.checks.samples import DOCUMENT, OBJECT
from callboard_testing.compliance import Bench, Check, checks
from needed import missing

#: The ports that these applications don't offer yet, and the samples that their tests don't make.
ABSENT = frozenset({FILE, MODELLING, OBJECT, DOCUMENT})
#: Without a GUI, undo is off until a host switches it on, no dialog offers to save, and a different
#: renderer is used.
_OTHERWISE_WITHOUT_WINDOWS = ("FileTools.", "Rendering.", "Undo.")


def both(real: bool) -> pytest.MarkDecorator:
    """Mark a test whose outcome differs without a GUI."""
    places = ["batch"] if real else ["batch", "windows"]
    return pytest.mark.parametrize("host", places, indirect=True)


def place(request: pytest.FixtureRequest, real: bool) -> str:
    """Return ``batch`` or ``windows``: the value in the test's mark, or else the default."""
    return str(getattr(request, "param", "batch" if real else "windows"))


def every_check(real: bool) -> pytest.MarkDecorator:
    def cases() -> Iterator[tuple[str, Check]]:
        for check in checks():
            if not ABSENT.isdisjoint(check.needs):
                continue
            if not real:
                yield "windows", check
            if real or check.id.startswith(_OTHERWISE_WITHOUT_WINDOWS):
                yield "batch", check

    return pytest.mark.parametrize(
        ("host", "check"),
        [pytest.param(where, check, id=f"{check.id}-{where}") for where, check in cases()],
        indirect=["host"],
    )


def run_check(check: Check, bench: Bench, real: bool) -> None:
    """Run one check. A double offers every capability of its application, so no check is skipped
    on it, except where OpenUSD isn't installed."""
    assert ABSENT.isdisjoint(bench.host.ports), "the host offers a port in ABSENT; remove it there"
    lacking = bench.missing(check)
    if lacking and (real or missing("pxr")):
        pytest.skip(f"the host doesn't offer {', '.join(lacking)}")
    assert lacking == []
    bench.run(check)
