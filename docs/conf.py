"""How Sphinx makes the docs' pages. `packaging/docs_site.py` lays out what they are made of."""

from __future__ import annotations

project = "callboard"
html_title = "callboard"
language = "en"
extensions = ["myst_parser"]
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
templates_path = ["_templates"]
html_additional_pages = {"index": "front.html"}
