"""Self-contained HTML pages, without scripts, fonts or network access."""

from __future__ import annotations

from html import escape


def html_page(title: str, style: str, main: str) -> str:
    """Return the page as text. ``title`` is escaped. ``style``, which is CSS, and ``main``, which
    is HTML, are inserted as they are."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{main}
</main>
</body>
</html>
"""
