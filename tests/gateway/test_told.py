"""An instance's snapshot for the page may contain anything."""

from __future__ import annotations

from typing import Any

import pytest

from callboard.errors import HostError
from callboard.panel.status import (
    CallStatus,
    CapabilityStatus,
    ClientStatus,
    QuestionStatus,
    RootStatus,
    SceneChange,
    Snapshot,
)
from callboard.rest.artist_routes import snapshot_as_json
from callboard_programs.gateway.page.facts import MOST_BYTES, MOST_ENTRIES, MOST_TEXT, shaped

ROOT = RootStatus("file:///show", "show", "/show", "artist", True)
#: A snapshot with something of every kind.
FULL = Snapshot(
    "fake",
    "Fake Host",
    "1.0",
    serving=True,
    scene="/show/a.usda",
    stalled_by="a render",
    roots=(ROOT,),
    clients=(ClientStatus("c", "Cursor", "2", "2025-11-25", (ROOT,), "a problem", "cursor"),),
    capabilities=(CapabilityStatus("usd", True, False, 3, "plug-in", "load it"),),
    calls=(CallStatus("1", "t", "Cursor", "running", 1.5, 1, 2, "half", {}, "a drag"),),
    questions=(QuestionStatus("q", "t", "Cursor", "script", "runs", {"code": "1"}, 9.5, "cursor"),),
    changes=(SceneChange("1", "t", "Cursor", 1.5, 2.0, "created /a", ("/a",), "u"),),
    ended_calls=3,
)
TRICKS = [7, "x", True, None, [[]], [7, None], {"toString": 1, "valueOf": 1}, 10**400, 1e400]


def test_what_a_host_tells_is_told_whole() -> None:
    told = snapshot_as_json(FULL)
    assert shaped(told) == told


@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_whatever_is_told_has_the_pages_shape(trick: Any) -> None:
    told = snapshot_as_json(FULL)
    for name, honest in told.items():
        shown = shaped({**told, name: trick})
        assert shown.keys() == told.keys()
        assert isinstance(shown[name], (type(honest), type(shaped({})[name])))
        for field in honest[0] if isinstance(honest, list) else ():
            (entry,) = shaped({name: [{**honest[0], field: trick}]})[name]
            (empty,) = shaped({name: [{}]})[name]
            assert entry.keys() == empty.keys()
            assert isinstance(entry[field], (type(honest[0][field]), type(empty[field])))


def test_what_is_too_much_is_cut_or_not_shown() -> None:
    call = snapshot_as_json(FULL)["calls"][0]
    told = shaped({"calls": [{**call, "tool": "x" * 5_000}] * 1_000})
    assert len(told["calls"]) == MOST_ENTRIES
    assert len(told["calls"][0]["tool"]) == MOST_TEXT
    with pytest.raises(HostError, match="more than"):
        shaped({"questions": [{"arguments": {"code": "x" * MOST_BYTES}}]})
