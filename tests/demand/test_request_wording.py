"""One request is one row of the report, however it is worded. A person can merge and split rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.demand.request_rows import RequestRows
from callboard.demand.request_wording import key_of

#: A verb with its gerund, its past tense and its noun, and an object in the singular and the
#: plural.
REQUESTS = (
    ("simulate", "simulating", "simulated", "simulation", "cloth", "cloths"),
    ("bake", "baking", "baked", "bake", "normal map", "normal maps"),
    ("retopologize", "retopologizing", "retopologized", "retopology", "mesh", "meshes"),
    ("import", "importing", "imported", "import", "FBX file", "FBX files"),
    ("animate", "animating", "animated", "animation", "camera path", "camera paths"),
    ("decimate", "decimating", "decimated", "decimation", "high-poly model", "high-poly models"),
    ("scatter", "scattering", "scattered", "scattering", "rock", "rocks"),
    ("delete", "deleting", "deleted", "deletion", "unused material", "unused materials"),
    ("mirror", "mirroring", "mirrored", "mirroring", "armature", "armatures"),
    ("undo", "undoing", "undo", "undo", "sculpt stroke", "sculpt strokes"),
)
PHRASES = (
    "{verb} {thing}",
    "{verb} the {thing}",
    "{verb} {things}",
    "{verb} my {things}, please",
    "{gerund} {thing}",
    "{gerund} of {things}",
    "{noun} of a {thing}",
    "{things} {noun}",
    "{thing} {gerund}",
    "{Things} {gerund}",
    "I want to {verb} a {thing}",
    "a tool for {gerund} {things}",
    "be able to {verb} {things}",
    "the ability to {verb} some {things}",
    "there should be an option to {verb} the {thing}",
    "have {things} {past}",
    "support for {gerund} {things}",
    "{thing}: {verb}",
    "Could you let me {verb} this {thing}?",
    "run a {thing} {noun}",
)
#: Requests that are similar, but all different.
OTHERS = (
    "export the report as a PDF",
    "import a PDF report",
    "delete the PDF report",
    "convert OBJ to FBX",
    "convert FBX to OBJ",
    "import FBX",
    "mesh to curve",
    "curve to mesh",
    "turn the lights off",
    "turn the lights on in every scene",
)
#: Wordings that agents really used.
SEEN = (
    (
        "I want a PDF of the report",
        "report -> pdf",
        "PDF export of the report",
        "export the report as a PDF",
    ),
    ("cloth sim", "run a cloth simulation", "simulate cloth"),
    ("exporting an fbx file", "export FBX"),
    ("convert OBJ to FBX", "FBX from an OBJ", "obj→fbx"),
    ("turn meshes into curves", "a curve from the mesh"),
)


def phrasings(request: tuple[str, ...]) -> list[str]:
    verb, gerund, past, noun, thing, things = request
    words = {"verb": verb, "gerund": gerund, "past": past, "noun": noun}
    more = {"thing": thing, "things": things, "Things": things.capitalize()}
    return [phrase.format(**words, **more) for phrase in PHRASES]


def test_twenty_phrasings_each_of_ten_requests_are_ten_rows() -> None:
    rows = [{key_of(phrasing) for phrasing in phrasings(request)} for request in REQUESTS]
    assert [row for row in rows if len(row) != 1] == []
    assert len(set.union(*rows)) == len(REQUESTS)
    others = {key_of(other) for other in OTHERS}
    assert len(others) == len(OTHERS)
    assert others & set.union(*rows) == {key_of("import FBX")}


@pytest.mark.parametrize("wordings", SEEN)
def test_wordings_that_agents_used_are_one_row(wordings: tuple[str, ...]) -> None:
    assert len({key_of(wording) for wording in wordings}) == 1


def test_words_that_never_count_alone_still_make_a_row() -> None:
    assert key_of("export") == key_of("Exporting!") != key_of("create")
    assert key_of("???") == ""


@pytest.fixture
def rows(tmp_path: Path) -> Callable[[], RequestRows]:
    """Read the rows from disk again, as the next report does."""
    return lambda: RequestRows(tmp_path)


def test_a_person_merges_rows_and_splits_them_again(rows: Callable[[], RequestRows]) -> None:
    stones, rocks, gravel = "distribute stones", "scatter rocks", "pour gravel"
    rows().merge([rocks, stones])
    rows().merge([stones, gravel])
    assert {rows().key(each) for each in (rocks, "scattering rocks", stones, gravel)} == {
        key_of(rocks)
    }
    rows().split("Scattering rocks")
    assert rows().key("scattering  rocks!") not in (rows().key(rocks), rows().key(stones))
    rows().split(stones)
    assert rows().key(stones) not in (rows().key(rocks), key_of(stones))
    assert rows().key(gravel) == rows().key(rocks)


def test_what_was_merged_follows_its_row_into_another(rows: Callable[[], RequestRows]) -> None:
    rows().merge(["scatter rocks", "distribute stones"])
    rows().merge(["pour gravel", "scatter rocks"])
    assert rows().key("distribute stones") == rows().key("scatter rocks") == key_of("pour gravel")


def test_rows_that_nobody_can_read_are_left_out(
    tmp_path: Path, rows: Callable[[], RequestRows], caplog: pytest.LogCaptureFixture
) -> None:
    rows().merge(["scatter rocks", "distribute stones"])
    (kept,) = tmp_path.iterdir()
    for content in ("{", "[]", '{"merged": [], "split": 1}'):
        kept.write_text(content, "utf-8")
        assert rows().key("distribute stones") == key_of("distribute stones")
        assert "can't be read" in caplog.text
        caplog.clear()
