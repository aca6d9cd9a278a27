"""Runs the compliance suite that ships with callboard. A host that passes it is finished.

pytest examples/host
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blocks import BlocksHost
from notes import NotesHost

from callboard.host import Host
from callboard_testing.compliance import Bench, Check, checks


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
@pytest.mark.parametrize("made", [NotesHost, BlocksHost])
def test_the_contract(made: type[Host], check: Check, tmp_path: Path) -> None:
    bench = Bench(made(lambda fn: None), tmp_path)
    if missing := bench.missing(check):
        pytest.skip(f"the host doesn't offer {', '.join(missing)}")
    bench.run(check)


def test_no_other_thread_reads_the_table() -> None:
    host = BlocksHost(lambda fn: None)
    with ThreadPoolExecutor() as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(host.table.names).result()
