"""Houdini's help is read from its text."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from callboard.manuals.search import search_manuals
from callboard_programs.manual_pages.wiki_reader import is_wiki, read_wiki
from manuals.small_manual import WIKI, added


def test_a_page_has_its_sections_paragraphs_and_terms() -> None:
    boat, folding, parameters, related = read_wiki(WIKI).sections
    assert (boat.title, boat.blocks) == (
        "Paper Boat",
        ["Folds a boat from a sheet.", "It floats on still water, if it is dry."],
    )
    assert (folding.title, folding.anchor) == ("Folding", "folding")
    assert folding.blocks == [
        "- Crease it.",
        "- Turn it.",
        "NOTE: Only paper floats.",
        "fold(@P);",
    ]
    assert parameters.blocks == ["Hull Width: How wide the hull is.", "Narrow: It tips over."]
    assert parameters.terms == ["Hull Width", "Narrow"]
    assert related.blocks == []


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        (WIKI, True),
        ("= Title =", True),
        ("", False),
        ("A license = text =", False),
        ("== a ==", False),
    ],
)
def test_other_texts_are_no_pages(text: str, is_page: bool) -> None:
    assert is_wiki(text) is is_page


@pytest.mark.parametrize(
    "text", ["{{{", "}}}", "[" * 50_000, "= " * 50_000, ":a:" * 9_000, "@x\n" * 9]
)
def test_malformed_pages_end(text: str) -> None:
    read_wiki(f"= Title =\n{text}")


def test_the_help_is_read_where_houdini_installed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    folder = tmp_path / "hfs20.5.332" / "houdini" / "help"
    folder.mkdir(parents=True)
    (folder / "license.txt").write_text("Copyright of nobody")
    with zipfile.ZipFile(folder / "nodes.zip", "w") as made:
        made.writestr("sop/boat.txt", WIKI)
        made.writestr("sop/fold.txt", "= Fold =\nFolds.")
    manual = added(folder).manual
    assert (manual.kind, manual.version, manual.pages) == ("houdini", "20.5", 2)
    answer = search_manuals("houdini", "20.5.332", "how wide is the hull of a boat", 1).result(30)
    (entry,) = answer.entries
    assert entry["page"] == "nodes/sop/boat#parameters"
    assert entry["url"] == "https://www.sidefx.com/docs/houdini20.5/nodes/sop/boat.html#parameters"
