"""A manual that was added is found by questions, by names and by its pages."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import HostError, PeerError
from callboard.manuals.search import ManualSections, search_manuals
from callboard.manuals.shelf import manuals, manuals_folder
from callboard_programs.manual_pages import make_index
from callboard_programs.manual_pages.make_index import remove_manual
from manuals.small_manual import AUTODESK, OLD, PAGES, REFERENCE, added, archive, html_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


def search(
    words: str, version: str = "5.1.0", limit: int = 5, kind: str = "blender"
) -> ManualSections:
    return search_manuals(kind, version, words, limit).result(timeout=30)


def first(words: str, **more: Any) -> dict[str, Any]:
    return dict(search(words, **more).entries[0])


def test_a_question_finds_the_sections_text(tmp_path: Path) -> None:
    made = added(archive(tmp_path / "manual.zip")).manual
    assert (made.kind, made.version, made.title) == ("blender", "5.1", "Blender 5.1 Manual")
    assert (made.name, made.pages) == ("blender-5.1-manual", 4)
    answer = search("how do I fold a lantern?")
    assert (answer.of, answer.named, answer.fits) == (["Blender 5.1 Manual"], False, True)
    entry = answer.entries[0]
    assert entry["text"].splitlines()[1] == "Crease the sheet along the dotted line, F."
    assert entry["within"] == "Crafts › Paper Lanterns"
    assert entry["page"] == "crafts/lanterns#folding"
    assert entry["url"] == "https://docs.blender.org/manual/en/5.1/crafts/lanterns.html#folding"
    assert search("widgets").entries == []  # They are only in the frames of pages.


def test_a_term_is_found_by_its_name(tmp_path: Path) -> None:
    added(archive(tmp_path / "manual.zip", layout=OLD))
    assert "Glow Through: Lets the candle be seen." in first("glow through")["text"]


def test_a_long_section_is_given_from_the_paragraph_that_answers(tmp_path: Path) -> None:
    words = "".join(f"<p>Paragraph {n} of the filling text about glue.</p>" for n in range(200))
    end = "<p>Badgers dislike it.</p><p>Nothing more.</p>"
    body = f'<section id="glue"><h1>Glue</h1>{words}{end}</section>'
    added(archive(tmp_path / "manual.zip", {**PAGES, "glue": body}))
    badgers = first("glue badgers")
    assert badgers["text"] == "… Badgers dislike it.\nNothing more."
    assert "rest" not in badgers
    glue = first("glue")
    read = [glue["text"]]
    while "rest" in glue:
        (glue,) = search(glue["rest"]).entries
        read.append(glue["text"])
    assert len(read) > 2
    assert [*range(200)] == [int(n) for n in re.findall(r"Paragraph (\d+)", "\n".join(read))]
    assert read[-1].endswith("Nothing more.")


@pytest.mark.parametrize(
    ("page", "begins"),
    [
        ("crafts/lanterns", "A lantern is folded from one sheet.\n\nFolding a Lantern\nReference"),
        ("crafts/lanterns.html", "A lantern is folded"),
        ("Crafts/Lanterns#folding", "Reference: Menu"),
        ("crafts/lanterns#folding@24", " Fold\nCrease"),
        ("https://docs.blender.org/manual/en/5.1/crafts/boats.html#boats", "A paper boat"),
        ("crafts/boats@9999", ""),
    ],
)
def test_a_page_is_read_by_its_name(tmp_path: Path, page: str, begins: str) -> None:
    added(archive(tmp_path / "manual.zip"))
    answer = search(page)
    assert answer.named
    assert answer.entries[0]["text"].startswith(begins)


@pytest.mark.parametrize(
    "page", ["crafts/none", "crafts/lanterns#none", "../../etc/passwd#a@1", "#"]
)
def test_a_page_that_is_not_there_is_not_named(tmp_path: Path, page: str) -> None:
    added(archive(tmp_path / "manual.zip"))
    assert not search(page).named


def test_a_reference_answers_names_and_the_manual_answers_questions(tmp_path: Path) -> None:
    added(archive(tmp_path / "manual.zip"))
    reference = added(archive(tmp_path / "api.zip", REFERENCE), title="Paper Python API").manual
    assert (reference.reference, reference.title) == (True, "Paper Python API")
    named = search("api.Sheet.fold")
    assert named.named
    assert (
        named.entries[0]["text"]
        == "fold(angle=90)\nFold the sheet.\nParameters: angle – in degrees"
    )
    assert (
        named.entries[0]["url"] == "https://docs.blender.org/api/5.1/api.sheet.html#api.Sheet.fold"
    )
    entries = search("how do I fold a sheet of paper").entries
    pages = {entry["page"].partition("#")[0] for entry in entries}
    assert pages == {"crafts/lanterns", "gotchas"}  # These are no names in code.
    assert first("gsm")["name"] == "api.Sheet.gsm"


def test_the_nearest_version_answers_and_says_so(tmp_path: Path) -> None:
    for version in ("4.5", "5.1"):
        added(archive(tmp_path / f"{version}.zip", version=version))
    for host, of in {
        "5.1.2": "Blender 5.1 Manual",
        "5.2.0": "Blender 5.1 Manual, of another version",
        "4.5.3 LTS": "Blender 4.5 Manual",
        "3.6": "Blender 4.5 Manual, of another version",
    }.items():
        assert search("lantern", host).of == [of]
    assert search("lantern", kind="maya") == ManualSections([], False, 0.0, 0, [], [], False)


def test_the_same_manual_replaces_itself(tmp_path: Path) -> None:
    added(archive(tmp_path / "manual.zip"))
    added(archive(tmp_path / "manual.zip", {"a": "<h1>Kites</h1><p>Kites fly.</p>"}))
    answer, broken = manuals()
    assert (len(answer), broken) == (1, {})
    assert search("lantern").entries == []
    assert first("kites")["text"] == "Kites fly."


def test_autodesks_help_names_product_and_version(tmp_path: Path) -> None:
    for topic in ("GUID-1", "GUID-2"):
        page = html_of("<h1>Fold</h1><p>Flat.</p>", layout=AUTODESK.replace("{topic}", topic))
        folder = tmp_path / "help" / "files"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{topic}.htm").write_text(page)
    made = added(tmp_path / "help").manual
    assert (made.kind, made.version, made.title) == ("maya", "2026", "Maya 2026 manual")
    entry = first("fold", kind="maya", version="2026.1")
    assert entry["url"] == "https://help.autodesk.com/view/MAYAUL/2026/ENU/?guid=GUID-1"
    assert search("fold", kind="maya", version="2026.1").of == ["Maya 2026 manual"]


def test_what_the_pages_do_not_say_the_user_says(tmp_path: Path) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    (source / "a.html").write_text("<h1>Kites</h1><p>Kites fly.</p>")
    with pytest.raises(PeerError, match="--for blender --version"):
        added(source)
    with pytest.raises(PeerError, match=r"version of Houdini .*--version"):
        added(source, kind="houdini")
    assert manuals() == ([], {})
    made = added(source, kind="houdini", version="20.5", url="https://example.com/kites").manual
    assert made.title == "Houdini 20.5 manual"
    entry = first("kites", kind="houdini", version="20.5.332")
    assert entry["url"] == "https://example.com/kites/a.html"


def test_a_name_of_the_file_says_what_the_pages_do_not(tmp_path: Path) -> None:
    page = {"a": "<h1>Kites</h1><p>Kites fly.</p>", "b": "<p>More.</p>"}
    for folder, version in {
        "blender_manual_v510_en.html": "5.1",
        "blender_python_reference_4_5": "4.5",
        "blender_manual_v293_en.html": "2.93",
    }.items():
        source = archive(tmp_path / "m.zip", page, folder=folder, layout="{body}")
        assert added(source).manual.version == version


def test_a_manual_can_be_removed_while_it_is_used(tmp_path: Path) -> None:
    added(archive(tmp_path / "manual.zip"))
    assert search("lantern").entries
    remove_manual("blender-5.1-manual")
    assert search("lantern") == ManualSections([], False, 0.0, 0, [], [], False)
    with pytest.raises(PeerError, match="no manual is called"):
        remove_manual("blender-5.1-manual")


@pytest.mark.parametrize("name", ["../home/records", "", "blender-5.1-manual\0"])
def test_only_a_manual_is_removed(tmp_path: Path, name: str) -> None:
    added(archive(tmp_path / "manual.zip"))
    with pytest.raises(PeerError, match="no manual is called"):
        remove_manual(name)


def test_a_broken_index_is_told_and_the_others_answer(tmp_path: Path) -> None:
    added(archive(tmp_path / "manual.zip"))
    whole = (manuals_folder() / "blender-5.1-manual.manual").read_bytes()
    (manuals_folder() / "text.manual").write_text("hello")
    (manuals_folder() / "half.manual").write_bytes(whole[: len(whole) // 2])
    (manuals_folder() / "empty.manual").write_bytes(b"")
    answer = search("how do I fold a lantern")
    assert answer.entries[0]["page"] == "crafts/lanterns#folding"
    assert len(answer.problems) == len(manuals()[1]) == 3
    assert all("`callboard manual add` makes it again" in each for each in answer.problems)
    remove_manual("text")


def test_every_damaged_byte_is_told_or_harmless(tmp_path: Path) -> None:
    path = added(archive(tmp_path / "manual.zip")).manual.path
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        search("how do I fold a lantern")
        search("crafts/lanterns")


def test_nothing_is_kept_when_the_index_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = archive(tmp_path / "manual.zip")
    with monkeypatch.context() as limits:
        limits.setattr(make_index, "MAX_TEXT", 10)
        with pytest.raises(HostError, match="give a part of the manual"):
            added(source)
        # Sections without text take memory, too.
        limits.setattr(make_index, "MAX_TEXT", 10_000)
        with pytest.raises(HostError, match="give a part of the manual"):
            added(archive(tmp_path / "many.zip", {"a": "<h1>a</h1>" * 1000}))
    manuals_folder().parent.mkdir()
    manuals_folder().write_text("a file")
    with pytest.raises(HostError, match="can't be written"):
        added(source)
    assert manuals() == ([], {})


@pytest.mark.parametrize("value", [None, b"text", 7, float("inf")])
@pytest.mark.parametrize("column", ["title", "text", "within"])
def test_a_section_that_is_no_text_is_told(tmp_path: Path, column: str, value: object) -> None:
    path = added(archive(tmp_path / "manual.zip")).manual.path
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE s AS SELECT * FROM sections; DROP TABLE sections;"
            "CREATE TABLE sections (number INTEGER, page INTEGER, level INTEGER, anchor, title,"
            " within, text); INSERT INTO sections SELECT * FROM s;"
        )
        db.execute(f"UPDATE sections SET {column} = ?", (value,))
        db.commit()
    for words in ("how do I fold a lantern", "crafts/lanterns"):
        answer = search(words)
        assert answer.entries == []
        assert len(answer.problems) == 1


def test_numbers_without_bounds_are_told(tmp_path: Path) -> None:
    path = added(archive(tmp_path / "manual.zip")).manual.path
    for change in (
        "UPDATE facts SET value = zeroblob(length(value)) WHERE name = 'lengths'",
        "UPDATE facts SET value = 9e999 WHERE name = 'pages'",
    ):
        with closing(sqlite3.connect(path)) as db:
            db.execute(change)
            db.commit()
        assert len(search("how do I fold a lantern").problems) == 1


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://example.com/\u202e", "https://a b", "file:///etc"]
)
def test_a_pages_own_address_is_one_that_can_be_opened(tmp_path: Path, url: str) -> None:
    head = f'<head><link rel="canonical" href="{url}"></head>'
    source = archive(
        tmp_path / "m.zip", {"a": "<h1>Kites</h1><p>Kites fly.</p>"}, layout=head + "{body}"
    )
    added(source, kind="openusd", version="25.1")
    assert "url" not in first("kites", kind="openusd")


def test_an_address_that_is_malformed_does_not_keep_a_manual_out(tmp_path: Path) -> None:
    page = {"a": '<head><link rel="canonical" href="http://[x"></head><p>Kites fly.</p>'}
    source = archive(tmp_path / "m.zip", page, layout="{body}")
    assert added(source, kind="openusd", version="25.1").manual.pages == 1


def test_a_page_of_huge_words_and_ids_is_added_and_answers_shortly(tmp_path: Path) -> None:
    # Each "ed" would be taken off alone, which takes hours.
    body = f'<h1 id="{"x" * 2_000_000}">Kites</h1><p>Kites fly.</p><p>{"ed" * 1_000_000}</p>'
    added(archive(tmp_path / "manual.zip", {"a": body}))
    assert len(str(search("kites").entries)) < 5_000
