"""The documentation pages are built without a warning, their links work, and they fit on a phone's
screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from browser import chromium
from e2e.client_environments import INSTALL_TIMEOUT
from needed import needs
from skills.skill_tree import write_files

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = needs("sphinx", "myst_parser", "furo")


WIDTHS = "[...document.querySelectorAll('html, .content, article')].map(e => e.scrollWidth)"


class Page(HTMLParser):
    """The addresses that a page links to or loads, and the anchors that other pages may link to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif value and (name == "src" or (name == "href" and tag in ("a", "link"))):
                self.links.append(value)
                if tag != "a":
                    self.loads.append(value)


def dead_links(pages: dict[Path, Page]) -> Iterator[str]:
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            target = (page.path.parent / path).resolve() if path else page.path
            place = unquote(parts.fragment)
            if not target.is_file() or (
                place and target in pages and place not in pages[target].places
            ):
                yield f"{page.path.name}: {link}"


def loaded_from_elsewhere(page: Page) -> list[str]:
    return [link for link in page.loads if urlsplit(link).netloc]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, str]]]:
    """Return the folder with the pages, and the broken links to other sites, each with its
    reason."""
    out = tmp_path_factory.mktemp("site").resolve() / "pages"
    done = subprocess.run(
        [
            *(sys.executable, str(PROJECT / "packaging" / "docs_site.py")),
            *("--out", str(out), "--outside"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    broken = re.findall(r"broken link: (\S+) \((.*)\)", done.stderr)
    assert done.returncode == 0 or broken, done.stderr
    return out, broken


@pytest.fixture(scope="module")
def site(made: tuple[Path, list[tuple[str, str]]]) -> Path:
    return made[0]


@pytest.mark.timeout(900)
def test_the_pages_are_made_and_nothing_on_them_leads_nowhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    made = {path.relative_to(site).as_posix() for path in pages}
    written = {f"docs/{path.stem}.html" for path in (PROJECT / "docs").glob("*.md")}
    written |= {f"docs/reference/{name}.html" for name in ("commands", "python", "tools")}
    assert not written - made
    assert list(dead_links(pages)) == []
    assert [page.path.name for page in pages.values() if loaded_from_elsewhere(page)] == []
    tools = (site / "docs" / "reference" / "tools.html").read_text("utf-8")
    assert "scene__create_primitive" in tools


@pytest.mark.timeout(INSTALL_TIMEOUT + 600)
def test_no_page_is_wider_than_a_phone_and_every_picture_has_words(site: Path) -> None:
    wide, wordless = {}, {}
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 390, "height": 844})
        for path in sorted(site.rglob("*.html")):
            # The front page only leads to docs/index.html.
            if path == site / "index.html":
                continue
            tab.goto(path.as_uri())
            name = path.relative_to(site).as_posix()
            # The theme hides content that is too wide, or makes all of the text scroll. Both are
            # checked.
            if (width := max(tab.evaluate(WIDTHS))) > 390:
                wide[name] = width
            if pictures := tab.evaluate("[...document.images].filter(i => !i.alt).map(i => i.src)"):
                wordless[name] = pictures
    assert (wide, wordless) == ({}, {})


def build(folder: Path, builder: str, pages: dict[str, str]) -> str:
    """Build faulty pages under the same settings. Return the complaints."""
    write_files(folder / "source" / "docs", pages)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-b", builder, "--quiet", "--fail-on-warning"),
            *("-c", str(PROJECT / "docs"), str(folder / "source"), str(folder / "pages")),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert done.returncode == 1
    return done.stderr


def test_a_link_that_leads_nowhere_ends_the_making(tmp_path: Path) -> None:
    # One page links to a heading that the other doesn't have.
    pages = {
        "index.md": "# One\n\n[there](other.md#nowhere)\n\n```{toctree}\nother\n```\n",
        "other.md": "# Other\n",
    }
    assert "nowhere" in build(tmp_path, "html", pages)


class Site(BaseHTTPRequestHandler):
    """A site with one page."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/there" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_link_to_what_another_site_has_no_more_is_named(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{site.server_port}"
        page = f"# One\n\n[one]({url}/there) and [another]({url}/gone)\n"
        complaints = build(tmp_path, "linkcheck", {"index.md": page})
        site.shutdown()
    assert re.findall(r"broken link: (\S+) \((\d+)", complaints) == [(f"{url}/gone", "404")]


@pytest.mark.timeout(900)
def test_no_link_to_another_site_is_dead(made: tuple[Path, list[tuple[str, str]]]) -> None:
    _, broken = made
    assert [each for each in broken if re.match("404|410|Anchor", each[1])] == []
    if broken:
        pytest.skip(f"can't be checked from here: {', '.join(link for link, _ in broken)}")
