"""Sphinx's settings for the docs pages. `packaging/docs_site.py` lays out what they are made of."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

project = "callboard"
html_title = "callboard"
language = "en"
extensions = ["myst_parser"]
# README.md gives its picture a width, which code hosts read in HTML alone.
myst_enable_extensions = ["html_image"]
root_doc = "docs/index"
exclude_patterns = ["docs/_templates", "docs/_static"]

# Headings are linked to as on the pages of code hosts.
myst_heading_anchors = 4
# Some blocks show what was printed, and JSON with three dots in it.
suppress_warnings = ["misc.highlighting_failure"]
smartquotes = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["callboard.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_scaled_image_link = False
# Nothing is entered in it.
html_use_index = False
html_search_scorer = str(Path(__file__).with_name("search_scores.js"))
templates_path = ["_templates"]
html_additional_pages = {"index": "front.html"}


def mark_long_names(app: Sphinx, page: nodes.document, name: str) -> None:
    """A name or an option stays on one line but where it alone is longer than a phone's."""
    for literal in page.findall(nodes.literal):
        if max(map(len, literal.astext().split()), default=0) > 36:
            literal["classes"].append("long")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", mark_long_names)
