"""Pages are read from archives and folders that may be hostile."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from callboard.errors import CallboardError
from callboard_programs.manual_pages import pages
from callboard_programs.manual_pages.pages import opened


def zipped(path: Path, content: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in content.items():
            made.writestr(name, data)
    return path


def read(source: Path) -> dict[str, str]:
    with opened(source) as source:
        return {page.path: page.text for page in source}


def test_only_pages_are_read(tmp_path: Path) -> None:
    source = zipped(
        tmp_path / "manual.zip",
        {
            "m/a.html": b"A",
            "m/b/c.HTM": b"C",
            "m/d.xhtml": b"D",
            "m/_static/e.html": b"",
            "m/genindex-A.html": b"",
            "m/search.html": b"",
            "m/picture.png": b"",
            "__MACOSX/m/a.html": b"",
        },
    )
    assert read(source) == {"a": "A", "b/c": "C", "d": "D"}


@pytest.mark.parametrize(
    "name",
    [
        "../up.html",
        "m/../../up.html",
        "/root.html",
        "C:/up.html",
        "m/a\x01b.html",
        "m/a\u202elmth.html",
        f"{'x' * 300}.html",
    ],
)
def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path, name: str) -> None:
    source = zipped(tmp_path / "manual.zip", {name: b"bad", "m/good.html": b"good"})
    assert list(read(source).values()) == ["good"]


def test_a_page_that_unpacks_to_more_than_it_may_is_left_out(tmp_path: Path) -> None:
    bomb = b"<p>" + b"a" * pages.MAX_PAGE
    source = zipped(tmp_path / "manual.zip", {"m/bomb.html": bomb, "m/good.html": b"good"})
    assert source.stat().st_size < 100_000
    with opened(source) as source:
        assert [page.path for page in source] == ["good"]
        assert source.skipped == 1


def test_many_pages_or_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = zipped(tmp_path / "manual.zip", {f"{n}.html": b"a" * 100 for n in range(5)})
    monkeypatch.setattr(pages, "MAX_TOTAL", 300)
    with pytest.raises(CallboardError, match="larger than"):
        read(source)
    monkeypatch.setattr(pages, "MAX_PAGES", 4)
    with pytest.raises(CallboardError, match="more than 4 pages"):
        read(source)


def test_what_is_no_manual_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_bytes(b"hello")
    (tmp_path / "empty").mkdir()
    whole = zipped(tmp_path / "cut.zip", {f"{n}.html": b"a" * 1000 for n in range(9)}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:300] + b"\0" * 20 + whole[320:])
    (tmp_path / "half.zip").write_bytes(whole[: len(whole) // 2])
    for name, told in {
        "text.zip": "isn't a ZIP archive that can be read",
        "cut.zip": "isn't a ZIP archive that can be read",
        "half.zip": "isn't a ZIP archive that can be read",
        "empty": "has no HTML pages",
        "nowhere": "there is no file or folder",
    }.items():
        with pytest.raises(CallboardError, match=re.escape(told)):
            read(tmp_path / name)


def test_an_encrypted_archive_is_told(tmp_path: Path) -> None:
    source = zipped(tmp_path / "manual.zip", {"a.html": b"a"})
    data = bytearray(source.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    source.write_bytes(data)
    with pytest.raises(CallboardError, match="encrypted"):
        read(source)


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "secret.html").write_text("secret")
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "page.html").write_text("page")
    (manual / "link.html").symlink_to(tmp_path / "secret.html")
    (manual / "folder").symlink_to(tmp_path / "far")
    assert read(manual) == {"page": "page"}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é".encode(), "é"),
        (b'<meta charset="iso-8859-1">\xe9', '<meta charset="iso-8859-1">é'),
        (b"<meta charset=nosuch>\xc3\xa9", "<meta charset=nosuch>é"),
        (b"<meta charset=hex>a", "<meta charset=hex>a"),
        ("é".encode("utf-16"), "é"),
        (b"\xef\xbb\xbfa", "a"),
        (b"a\xff", "a\ufffd"),
    ],
)
def test_a_page_is_read_in_its_encoding(tmp_path: Path, data: bytes, text: str) -> None:
    assert read(zipped(tmp_path / "manual.zip", {"a.html": data, "b.html": b""}))["a"] == text


@pytest.mark.parametrize("named", ["punycode", "unicode_escape", "utf-7", "gb18030", "cp99999"])
def test_an_encoding_that_no_page_has_does_no_harm(tmp_path: Path, named: str) -> None:
    # Python's punycode takes hours for a larger page, and the others give halves of characters.
    page = f'<meta charset="{named}">' + "a" * 300_000 + "-" + "z" * 300_000
    data = page.encode() + b"\\ud800 +2AA- \x83\x36\xc7\x38"
    text = read(zipped(tmp_path / "manual.zip", {"a.html": data}))["a"]
    assert "a-z" in text
    text.encode()


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names are Unicode there")
def test_a_name_in_another_encoding_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text("good")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")).write_text("bad")
    assert read(tmp_path) == {"good": "good"}
