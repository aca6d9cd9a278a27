"""A little manual of our own, in the layouts in which makers offer theirs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from callboard_programs.manual_pages.identity import Given
from callboard_programs.manual_pages.make_index import Added, add_manual

#: As Sphinx's furo writes a page.
FURO = """<!doctype html>
<html class="no-js" lang="en">
  <head><meta charset="utf-8"/><title>{title} - Blender {version} Manual</title></head>
  <body>
    <aside class="sidebar-drawer"><ul><li><a href="x.html">About widgets</a></li></ul></aside>
    <div class="main"><div class="content"><div class="article-container">
    <article role="main" id="furo-main-content">{body}</article>
    </div><footer><p>Copyright of nobody, made with widgets</p></footer></div></div>
    <script>var widgets = "<p>no text</p>";</script>
  </body>
</html>
"""
#: As Sphinx wrote a page before, with the theme of Read the Docs.
OLD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8" />
<title>{title} &mdash; Blender {version} Manual</title>
</head><body class="wy-body-for-nav"><nav class="wy-nav-side"><p>Sidebar about widgets</p></nav>
<section class="wy-nav-content-wrap"><div role="main" class="document" itemscope="itemscope">
<div itemprop="articleBody">{body}</div></div><footer><p>widgets</p></footer></section>
</body></html>
"""
#: As Autodesk's help writes a page.
AUTODESK = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">
<html xmlns="http://www.w3.org/1999/xhtml"><head>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />
<meta name="product" content="MAYAUL" /><meta name="release" content="2026" />
<meta name="topicid" content="{topic}" /><title>{title}</title></head>
<body><div class="body_content" id="body-content">{body}</div></body></html>
"""
HEADER = '<a class="headerlink" href="#x" title="Link to this heading">¶</a>'
LANTERNS = f"""<section id="lanterns"><h1>Paper Lanterns{HEADER}</h1>
<p>A lantern is folded from one sheet.</p>
<div class="toctree-wrapper compound"><ul><li>widgets</li></ul></div>
<section id="folding"><h2>Folding a Lantern{HEADER}</h2>
<div class="admonition refbox"><p class="admonition-title">Reference</p>
<dl class="field-list simple"><dt class="field-odd">Menu<span class="colon">:</span></dt>
<dd class="field-odd"><p>Paper ‣ Fold</p></dd></dl></div>
<p>Crease the sheet along the
   dotted line, <kbd>F</kbd>.</p>
<dl><dt>Glow Through</dt><dd><p>Lets the candle be seen.</p>
<div class="admonition note"><p class="admonition-title">Note</p><p>Only thin paper glows.</p></div>
</dd><dt>Rim</dt><dd><p>The width of the border.</p></dd></dl>
<ul><li><p>one crease</p></li><li>two creases</li></ul>
<pre>fold(sheet)
  .twice()</pre>
<table><tr><th>Paper</th><th>Weight</th></tr><tr><td><p>Rice</p></td><td>20</td></tr></table>
</section></section>"""
PAGES = {
    "index": '<section id="m"><h1>The Manual</h1><p>Welcome to crafts.</p></section>',
    "crafts/index": '<section id="crafts"><h1>Crafts</h1><p>What hands make.</p></section>',
    "crafts/lanterns": LANTERNS,
    "crafts/boats": '<section id="boats"><h1>Boats</h1><p>A paper boat floats.</p></section>',
}
REFERENCE = {
    "gotchas": "<h1>Gotchas</h1><p>A torn sheet of paper can't be folded again.</p>",
    "api.sheet": """<section id="sheet"><h1>Sheet(Paper)</h1><dl class="py class">
<dt class="sig sig-object py" id="api.Sheet"><em>class</em> <code>api.Sheet</code>(Paper)</dt>
<dd><p>One sheet of paper.</p>
<dl class="py method"><dt class="sig sig-object py" id="api.Sheet.fold">fold(angle=90)</dt>
<dd><p>Fold the sheet.</p><dl class="field-list"><dt>Parameters<span>:</span></dt>
<dd><p><strong>angle</strong> – in degrees</p></dd></dl></dd></dl>
<dl class="py attribute"><dt class="sig sig-object py" id="api.Sheet.gsm">gsm</dt>
<dd><p>The weight of the sheet.</p></dd></dl></dd></dl></section>""",
}


def html_of(body: str, title: str = "Page", version: str = "5.1", layout: str = FURO) -> str:
    return layout.replace("{title}", title).replace("{version}", version).replace("{body}", body)


def archive(
    path: Path,
    pages: Mapping[str, str] = PAGES,
    version: str = "5.1",
    folder: str = "crafts_manual_html",
    layout: str = FURO,
) -> Path:
    """Write the pages, bodies by path, into a ZIP archive as docs.blender.org offers it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(f"{folder}/_static/documentation_options.js", "const OPTIONS = {};")
        made.writestr(f"{folder}/genindex.html", html_of("<p>widgets</p>", "Index", version))
        for name, body in pages.items():
            written = html_of(body, name.rpartition("/")[2], version, layout)
            made.writestr(f"{folder}/{name}.html", written)
    return path


def added(source: Path, **given: str) -> Added:
    """Add a manual, with the words that the user gives."""
    return add_manual(source, Given(**given), lambda done, total: None)


#: As Houdini's help is written.
WIKI = '''#type: node
#context: sop
= Paper Boat =

#icon: SOP/boat

"""Folds a [boat|Node:sop/fold] from a sheet."""

[Image:/images/boat.png]
It floats on __still__ water,
if it is dry.

== Folding == (folding)

# Crease it.
# Turn it.

NOTE:
    Only paper floats.

{{{
#!vex
fold(@P);
}}}

@parameters

Hull Width:
    #id: width
    How wide the hull is.

    Narrow:
        It tips over.

@related
- [Node:sop/fold]
'''
