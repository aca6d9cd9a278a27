"""Renders the self-test's report as one self-contained page, without scripts, fonts or network
access."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from callboard.content import Json
from callboard.ground.html_page import html_page

_STYLE = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #1c2128; --soft: #5c6670;
  --line: #e1e5ea; --ok: #1d7a46; --fault: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1d2127; --ink: #e6e9ed;
  --soft: #98a2ad; --line: #2e343c; --ok: #6fcf97; --fault: #f0776c; } }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 32px 24px 56px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 0; }
p { margin: 4px 0 0; overflow-wrap: anywhere; }
ul { margin: 8px 0 0; padding-left: 20px; overflow-wrap: anywhere; }
.soft, li.absent { color: var(--soft); }
li.fault, .mark.fault { color: var(--fault); }
.mark { float: right; font-size: 13px; font-weight: 600; margin-left: 12px; color: var(--soft); }
.mark.ok { color: var(--ok); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px 20px; margin-top: 16px; }
details { margin-top: 8px; font-size: 13px; color: var(--soft); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 6px 0 0; }
"""


def page(report: Json, summary: str) -> str:
    """Return the page. ``summary`` is the outcome in a sentence."""
    about = report["application"]
    title = f"callboard in {about['name']} {about['version']}"
    facts = (
        f"{report['date']}, {report['seconds']} s, callboard {report['callboard']}",
        f"{report['system']}, Python {report['python']}, windows drawn by {report['toolkit']}",
        "the session's first act" if report["first_act"] else "calls had changed the scene before",
    )
    # Faults are listed first, because a reader can act on them.
    order = ("fault", "ok", "not offered")
    checks = sorted(report["checks"], key=lambda check: order.index(check["outcome"]))
    main = f"""<h1>{_text(title)}</h1>
<p>{_text(summary)}.</p>
<p class="soft">{_text("; ".join(facts))}. This report has no names and no paths. Its JSON file
is beside it, in the folder that the browser's address bar shows. Please attach both to an issue of
the project where you found callboard, or send them to the person who gave it to you.</p>
{"".join(map(_section, checks))}"""
    return html_page(title, _STYLE, main)


def _section(check: Json) -> str:
    kind = check["outcome"]
    marks = {"ok": "works", "fault": "broke", "not offered": "not offered"}
    data = json.dumps(check["data"], indent=1, ensure_ascii=False)
    figures = f"<details><summary>Figures</summary><pre>{_text(data)}</pre></details>"
    use = f'<p class="soft">{_text(check["use"])}</p>' if kind == "fault" else ""
    return f"""<section>
<span class="mark {kind.split()[0]}">{marks[kind]}</span><h2>{_text(check["title"])}</h2>
<ul>{_lines("fault", check["faults"])}{_lines("good", check["good"])}
{_lines("absent", (f"not offered: {each}" for each in check["absent"]))}</ul>{use}
{figures if check["data"] else ""}</section>
"""


def _lines(kind: str, sentences: Iterable[str]) -> str:
    return "".join(f'<li class="{kind}">{_text(each)}</li>' for each in sentences)


def _text(text: Any) -> str:
    return escape(str(text))
