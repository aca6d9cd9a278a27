"""``docs__lookup`` over OpenUSD's schemas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from callboard.manuals.shelf import manuals_folder
from callboard_openusd.host import OpenUsdHost
from callboard_testing.compliance import Bench
from manuals.small_manual import added, archive

Lookup = Callable[..., Any]


@pytest.fixture
def lookup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lookup:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    bench = Bench(OpenUsdHost(lambda fn: None), tmp_path)
    return lambda words, **more: bench.call("docs__lookup", {"words": words, **more})


def test_a_schemas_property_is_told_with_its_type_and_default(lookup: Lookup) -> None:
    (radius,) = lookup("SphereLight.inputs:radius", limit=1)["entries"]
    assert "radius" in radius["text"].lower()
    assert (radius["type"], radius["default"]) == ("float", 0.5)


def test_a_default_without_bounds_is_a_word(lookup: Lookup) -> None:
    (force,) = lookup("PhysicsJoint.physics:breakForce", limit=1)["entries"]
    (lower,) = lookup("PhysicsPrismaticJoint.physics:lowerLimit", limit=1)["entries"]
    assert (force["default"], lower["default"]) == ("inf", "-inf")


def test_words_find_what_has_them_all(lookup: Lookup) -> None:
    names = [entry["name"] for entry in lookup("sphere light radius")["entries"]]
    assert names[0] == "SphereLight.inputs:radius"


def test_choices_are_told(lookup: Lookup) -> None:
    purpose = lookup("purpose", limit=20)["entries"]
    assert any(entry.get("choices") == ["default", "render", "proxy", "guide"] for entry in purpose)


def test_a_schema_names_its_properties(lookup: Lookup) -> None:
    (cube,) = lookup("Cube", limit=1)["entries"]
    assert cube["kind"] == "schema"
    assert "size" in cube["properties"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("qqqqxyz", "no entry has 'qqqqxyz'; look up the application's own word for it"),
        ("\u0440\u0430\u0434\u0438\u0443\u0441", "look up words such as: bevel width"),
    ],
)
def test_who_finds_nothing_is_told_what_to_look_up(lookup: Lookup, words: str, hint: str) -> None:
    answer = lookup(words)
    assert answer["entries"] == []
    assert hint in answer["hint"]


def test_the_nearest_is_shown_with_a_hint_when_nothing_has_all_words(lookup: Lookup) -> None:
    answer = lookup("joint purpose interpolation")
    assert answer["entries"] != []
    assert "look up fewer at once" in answer["hint"]


def test_plain_questions_are_answered_by_recipes(lookup: Lookup) -> None:
    for question, tool in (
        ("Why are my textures missing?", "file__references"),
        ("which objects use this material", "scene__find"),
        ("How do I export it for a game engine?", "exchange__export"),
    ):
        (recipe, *_) = lookup(question)["entries"]
        assert (recipe["kind"], recipe["tool"]) == ("recipe", tool)


def test_who_finds_something_is_told_no_hint(lookup: Lookup) -> None:
    assert "hint" not in lookup("sphere light radius")


def test_a_manual_answers_together_with_the_schemas(lookup: Lookup, tmp_path: Path) -> None:
    pages = {
        "lamps": "<h1>Lamps</h1><p>A sphere light shines from a ball.</p>",
        "other": "<h1>Other</h1><p>Nothing about it.</p>",
    }
    assert "manual" not in lookup("sphere light radius")
    added(archive(tmp_path / "m.zip", pages), kind="openusd", version="24", title="Lamp Book")
    answer = lookup("what does a sphere light do?", limit=20)
    kinds = [entry["kind"] for entry in answer["entries"]]
    assert {"manual", "schema"} <= {*kinds}
    assert answer["manual"].startswith("Lamp Book")
    section = answer["entries"][kinds.index("manual")]
    assert section["text"] == "A sphere light shines from a ball."
    assert lookup(section["page"])["entries"] == [section]
    assert lookup("SphereLight.inputs:radius", limit=1)["entries"][0]["kind"] == "property"


def test_a_broken_manual_is_told_and_the_schemas_answer(lookup: Lookup) -> None:
    manuals_folder().mkdir(parents=True)
    (manuals_folder() / "lamps.manual").write_text("x")
    answer = lookup("sphere light radius")
    assert answer["entries"][0]["name"] == "SphereLight.inputs:radius"
    assert "'lamps' can't be read" in answer["hint"]
