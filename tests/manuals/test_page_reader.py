"""A page's text becomes sections, whoever wrote the page."""

from __future__ import annotations

import pytest

from callboard_programs.manual_pages.page_reader import Section, read_page
from manuals.small_manual import AUTODESK, FURO, LANTERNS, OLD, REFERENCE, html_of


def sections(page: str) -> dict[str, Section]:
    return {one.title: one for one in read_page(page).sections}


@pytest.mark.parametrize("layout", [FURO, OLD])
def test_a_section_has_its_paragraphs_and_nothing_of_the_pages_frame(layout: str) -> None:
    read = sections(html_of(LANTERNS, layout=layout))
    assert list(read) == ["Paper Lanterns", "Folding a Lantern"]
    assert read["Paper Lanterns"].blocks == ["A lantern is folded from one sheet."]
    folding = read["Folding a Lantern"]
    assert (folding.level, folding.anchor) == (2, "folding")
    assert folding.blocks == [
        "Reference: Menu: Paper ‣ Fold",
        "Crease the sheet along the dotted line, F.",
        "Glow Through: Lets the candle be seen.",
        "Note: Only thin paper glows.",
        "Rim: The width of the border.",
        "- one crease",
        "- two creases",
        "fold(sheet)\n  .twice()",
        "Paper | Weight",
        "Rice | 20",
    ]
    assert folding.terms == ["Menu", "Glow Through", "Rim"]


def test_old_pages_have_sections_as_divisions() -> None:
    body = LANTERNS.replace("<section id", '<div class="section" id').replace(
        "</section>", "</div>"
    )
    assert sections(html_of(body, layout=OLD))["Folding a Lantern"].anchor == "folding"


def test_a_reference_has_a_section_for_each_name() -> None:
    read = sections(html_of(REFERENCE["api.sheet"]))
    assert list(read) == ["Sheet(Paper)", "api.Sheet", "api.Sheet.fold", "api.Sheet.gsm"]
    assert read["api.Sheet"].blocks == ["class api.Sheet(Paper)", "One sheet of paper."]
    assert read["api.Sheet.fold"].blocks == [
        "fold(angle=90)",
        "Fold the sheet.",
        "Parameters: angle – in degrees",
    ]
    assert read["api.Sheet"].level < read["api.Sheet.fold"].level == read["api.Sheet.gsm"].level


def test_a_page_of_autodesks_help_is_read_with_its_topic() -> None:
    body = "<h1>Fold <i>paper</i></h1><table><tr><td><p>Lay it flat.</p></td></tr></table>"
    read = read_page(html_of(body, "Fold paper", layout=AUTODESK.replace("{topic}", "GUID-1")))
    assert [(one.title, one.blocks) for one in read.sections] == [("Fold paper", ["Lay it flat."])]
    assert (read.facts["topicid"], read.facts["release"]) == ("GUID-1", "2026")


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("<p>open<p>again<ul><li>one<li>two", ["open", "again", "- one", "- two"]),
        ("</div></p>text</b>", ["text"]),
        ("<table><tr><td>a<td>b<tr><td>c", ["a | b", "c"]),
        ("<dl><dt>term<dd>said<dt>alone</dl>after", ["term: said", "alone", "after"]),
        ("a &amp; b &#x41; &nosuch; &#99999999;", ["a & b A &nosuch; \ufffd"]),
        ("<script>if (a<b) '</p>'</script>text<style>p {}</style>", ["text"]),
        ("<p>text<!-- <p>comment --></p><![CDATA[x", ["text"]),
    ],
)
def test_careless_pages_are_read(body: str, blocks: list[str]) -> None:
    (section,) = read_page(f"<html><body>{body}</body></html>").sections
    read = [block.rstrip(" |") for block in section.blocks]
    assert read[: len(blocks)] == blocks


@pytest.mark.parametrize(
    "text",
    [
        *("<div>" * 50_000, "<dl><dt>" * 9_000, "<" * 200_000, "<!--" * 30_000, "&" * 100_000),
        *("<![unknown[", "<!DOCTYPE a [<!x", ""),
    ],
    ids=[
        *("nested", "terms", "angles", "comments", "references"),
        *("sections", "declarations", "empty"),
    ],
)
def test_malformed_pages_end(text: str) -> None:
    page = read_page(f"<html><body><h1>Start</h1><p>text</p>{text}")
    assert page.sections[0].blocks[0] == "text"
