"""The Houdini adapter, on the double or, under hython, on Houdini itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pxr", reason="this Python has no OpenUSD")

from houdini_rig import REAL, houdini_host, new_houdini

from callboard.testing.compliance import Bench, Check, checks


@pytest.fixture(params=["batch"] if REAL else ["batch", "windows"])
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    new_houdini(windows=request.param == "windows")
    with houdini_host(lambda fn: None) as found:
        yield found


@pytest.fixture
def bench(host: Any, tmp_path) -> Bench:
    return Bench(host, tmp_path.resolve())


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.id)
def test_compliance(check: Check, bench: Bench) -> None:
    if missing := bench.missing(check):
        pytest.skip(f"the host doesn't offer {', '.join(missing)}")
    bench.run(check)
