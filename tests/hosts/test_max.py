"""The 3ds Max adapter, on the double or, under 3dsmaxbatch, on 3ds Max itself."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from max_rig import REAL, max_host, new_max

from callboard.testing.compliance import Bench, Check, checks


@pytest.fixture(params=["batch"] if REAL else ["batch", "windows"])
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    new_max(windows=request.param == "windows", usd=find_spec("pxr") is not None)
    with max_host(lambda fn: None) as found:
        yield found


@pytest.fixture
def bench(host: Any, tmp_path: Path) -> Bench:
    return Bench(host, tmp_path.resolve())


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.id)
def test_compliance(check: Check, bench: Bench) -> None:
    if missing := bench.missing(check):
        pytest.skip(f"the host doesn't offer {', '.join(missing)}")
    bench.run(check)
