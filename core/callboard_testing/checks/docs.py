"""Checks that entries of the application's documentation are found, and that answers are small."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

from callboard.host import DOCS

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

#: Maximum number of bytes in an answer with five entries.
_MOST_BYTES = 32_000


class Documentation:
    needs = (DOCS,)

    def test_a_name_is_found_first(self, bench: Bench) -> None:
        for entry in islice(bench.port(DOCS).entries(), 20):
            answer = bench.call("docs__lookup", {"words": entry.name, "limit": 1})
            assert answer["entries"][0]["name"] == entry.name
            assert answer["entries"][0]["kind"] == entry.kind

    def test_the_version_is_the_running_one(self, bench: Bench) -> None:
        identity = bench.host.identity
        answer = bench.call("docs__lookup", {"words": "is there qqqqxyz"})
        assert "'qqqqxyz'" in answer.pop("hint")
        assert answer == {"version": f"{identity.name} {identity.version}", "entries": []}

    def test_answers_are_small(self, bench: Bench) -> None:
        answer = bench.call("docs__lookup", {"words": "e"})
        assert len(answer["entries"]) == 5
        assert answer["more"] > 0
        assert len(json.dumps(answer)) <= _MOST_BYTES

    def test_every_entry_has_details(self, bench: Bench) -> None:
        port = bench.port(DOCS)
        for entry in port.entries():
            assert entry.name
            json.dumps(port.details(entry), allow_nan=False)
