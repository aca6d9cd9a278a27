"""Runs the compliance suite that ships with callboard. A host that passes it is finished.

pytest examples/host
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blocks import BlocksHost
from layers import PaintingHost
from notes import NotesHost

from callboard.host import Host
from callboard_testing.checks.samples import OBJECT
from callboard_testing.compliance import Bench, Check, checks
from callboard_testing.direct_calls import DirectCaller


def layer(bench: Bench) -> str:
    return bench.port("layers").add("Layer")


SAMPLES = {NotesHost: {}, BlocksHost: {}, PaintingHost: {OBJECT: layer}}


@pytest.mark.parametrize("check", [*checks()], ids=lambda check: check.id)
@pytest.mark.parametrize("made", [*SAMPLES])
def test_the_contract(made: type[Host], check: Check, tmp_path: Path) -> None:
    bench = Bench(made(lambda fn: None), tmp_path, SAMPLES[made])
    if missing := bench.missing(check):
        pytest.skip(f"the host doesn't offer {', '.join(missing)}")
    bench.run(check)


def test_no_other_thread_reads_the_table() -> None:
    host = BlocksHost(lambda fn: None)
    with ThreadPoolExecutor() as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(host.table.names).result()


def test_an_agent_adds_a_layer() -> None:
    call = DirectCaller(PaintingHost(lambda fn: None))
    assert call("painting__add_layer", {"name": "Ink"}) == {"created": ["/Ink"]}
    assert call("scene__list_objects")["total"] == 1
