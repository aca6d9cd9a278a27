"""Renders the report as one self-contained page, which needs no script, no font and no network."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from html import escape
from typing import Any

from callboard.ground.html_page import html_page
from callboard_programs.cli.charts import bar, calls_per_day

_STYLE = """
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2128; --soft: #5c6670; --line: #e1e5ea;
  --ok: #3b7dd8; --error: #d0453a; --refused: #c98a12; --track: #eceff3; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171b; --card: #1d2127; --ink: #e6e9ed; --soft: #98a2ad; --line: #2e343c;
  --ok: #6aa5f2; --error: #f0776c; --refused: #e2b04a; --track: #2a3038; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 32px 24px 56px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 0 0 2px; }
p { margin: 0; }
.soft { color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin-top: 20px; }
section > p.soft { margin-bottom: 14px; font-size: 14px; }
p.more { margin: 6px 0 0 22px; font-size: 14px; }
.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 12px;
  margin-top: 24px; }
.totals div { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 12px 16px; }
.totals b { display: block; font-size: 24px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.totals span { color: var(--soft); font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-size: 12px; font-weight: 600; color: var(--soft); padding: 0 14px 6px 0;
  white-space: nowrap; }
td { border-top: 1px solid var(--line); padding: 9px 14px 9px 0; vertical-align: top;
  overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.chart { width: 150px; padding-top: 14px; }
td.name { min-width: 220px; }
td code { display: block; min-width: 150px; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
details { margin-top: 3px; font-size: 13.5px; color: var(--soft); }
summary { cursor: pointer; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: 0 9px;
  font-size: 12.5px; color: var(--soft); white-space: nowrap; }
svg { display: block; width: 100%; height: auto; }
svg.bar { height: 8px; }
svg.days { min-width: 600px; }
svg text { fill: var(--soft); font-size: 12px; font-family: inherit; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 10px; font-size: 13px;
  color: var(--soft); }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin-right: 6px; }
footer { margin-top: 24px; font-size: 13px; color: var(--soft); }
@media print { body { background: none; } section, .totals div { break-inside: avoid; } }
"""

_SOURCES = {"requested": "asked for", "refused": "refused here", "inferred": "inferred"}


def render(report: dict[str, Any]) -> str:
    """Return the page for the result of :func:`callboard.demand.report.build`. All text from
    outside is escaped."""
    period = _period(report)
    main = f"""<h1>Calls, and missing capabilities</h1>
<p class="soft">{escape(period)}</p>
{_totals(report)}
{_missing(report)}
{_changes(report["changes"])}
{_unknown(report["unknownTools"])}
{_days(report["callsPerDay"])}
{_errors(report)}
{_slowest(report)}
<footer>Made by callboard on {escape(_when(report["generatedAt"]))} from records on this machine.
Secrets, home folders and user names were removed before they were written.</footer>"""
    return html_page(f"Callboard report, {period}", _STYLE, main)


def _totals(report: dict[str, Any]) -> str:
    outcomes = report["outcomes"]
    refused = outcomes.get("refused", 0)
    missing = len(report["topMissingCapabilities"]) + report["more"]["topMissingCapabilities"]
    failed = report["calls"] - outcomes.get("ok", 0) - refused
    figures = (
        (report["calls"], "calls"),
        (report["sessions"], "sessions"),
        (len(report["clients"]), "clients"),
        (failed, "failed"),
        (refused, "refused"),
        (missing, "missing"),
    )
    cells = "".join(f"<div><b>{_count(n)}</b><span>{label}</span></div>" for n, label in figures)
    return f'<div class="totals">{cells}</div>'


def _missing(report: dict[str, Any]) -> str:
    entries, here = report["topMissingCapabilities"], set(report["refusedHere"])
    if not entries:
        return _table("Missing capabilities", "", (), [], "No capability was missing.")
    most = max(entry["sessions"] for entry in entries)
    parts = (
        (
            "Not built",
            "Requested or missed by agents, but not offered by any tool; most sessions first.",
            [entry for entry in entries if entry["capability"] not in here],
        ),
        (
            "Refused here",
            "A tool has these; the host didn't offer them, or the artist withdrew them.",
            [entry for entry in entries if entry["capability"] in here],
        ),
    )
    columns = ("Capability", "Source", "#Sessions", "", "#Times")
    tables = [
        _table(title, about, columns, [_request_text(entry, most) for entry in part], "")
        for title, about, part in parts
        if part
    ]
    return "".join(tables) + _more(report, "topMissingCapabilities")


def _request_text(entry: dict[str, Any], most: int) -> str:
    return (
        f'<td class="name">{escape(entry["capability"])}{_examples(entry["examples"])}</td>'
        f'<td><span class="tag">{_SOURCES[entry["source"]]}</span></td>'
        f'<td class="number">{_count(entry["sessions"])}</td>'
        f'<td class="chart">{bar(entry["sessions"], most, _COLOURS[entry["source"]])}</td>'
        f'<td class="number">{_count(entry["count"])}</td>'
    )


def _changes(changes: dict[str, Any] | None) -> str:
    """Return the section about changes, or an empty string if there are no earlier calls to compare
    with."""
    if changes is None or not changes["callsBefore"]:
        return ""
    rows = [
        f'<td>{title}</td><td class="name">{escape(", ".join(changes[key])) or "–"}</td>'
        for key, title in (("new", "New"), ("gone", "No longer asked for"))
    ]
    calls = _count(changes["callsBefore"])
    about = f"Compared with the previous period of the same length, with {calls} calls."
    return _table("What changed", about, ("", "Capabilities"), rows, "")


def _unknown(entries: Sequence[dict[str, Any]]) -> str:
    rows = [
        f"<td><code>{escape(entry['tool'])}</code></td>"
        f'<td class="number">{_count(entry["sessions"])}</td>'
        f'<td class="number">{_count(entry["count"])}</td>'
        for entry in entries
    ]
    about = "Names that agents called, although no tool has that name."
    columns = ("Tool", "#Sessions", "#Times")
    return _table("Unknown tools that were called", about, columns, rows, "") if rows else ""


_COLOURS = {"requested": "ok", "refused": "refused", "inferred": "soft"}


def _examples(examples: Sequence[str]) -> str:
    if not examples:
        return ""
    paragraphs = "".join(f"<p>“{escape(example)}”</p>" for example in examples)
    return f"<details><summary>Examples</summary>{paragraphs}</details>"


def _days(days: Sequence[dict[str, Any]]) -> str:
    if not any(day["calls"] for day in days):
        return ""
    legend = "".join(
        f'<span><i style="background: var(--{colour})"></i>{label}</span>'
        for colour, label in (("ok", "succeeded"), ("error", "failed"), ("refused", "refused"))
    )
    return (
        "<section><h2>Calls per day</h2>"
        f'<p class="soft">{_count(max(day["calls"] for day in days))} on the busiest.</p>'
        f'<div class="wide">{calls_per_day(days)}</div><div class="legend">{legend}</div></section>'
    )


def _errors(report: dict[str, Any]) -> str:
    entries = report["topErrors"]
    rows = [
        (
            f"<td><code>{escape(entry['tool'])}</code></td>"
            f'<td class="name">{escape(entry["message"])}</td>'
            f'<td class="number">{"" if entry["code"] is None else entry["code"]}</td>'
            f'<td class="number">{_count(entry["sessions"])}</td>'
            f'<td class="number">{_count(entry["count"])}</td>'
        )
        for entry in entries
    ]
    return _table(
        "Errors",
        "The same message about another object or number is treated as the same error.",
        ("Tool", "Message", "#Code", "#Sessions", "#Times"),
        rows,
        "Nothing failed.",
    ) + _more(report, "topErrors")


def _slowest(report: dict[str, Any]) -> str:
    entries = report["slowestTools"]
    most = max((entry["p95Ms"] for entry in entries), default=0.0)
    rows = [
        (
            f"<td><code>{escape(entry['tool'])}</code></td>"
            f'<td class="number">{_ms(entry["p95Ms"])}</td>'
            f'<td class="chart">{bar(entry["p95Ms"], most, "ok")}</td>'
            f'<td class="number">{_ms(entry["medianMs"])}</td>'
            f'<td class="number">{_ms(entry["queueP95Ms"])}</td>'
            f'<td class="number">{_ms(entry["mainThreadP95Ms"])}</td>'
            f'<td class="number">{_count(entry["calls"])}</td>'
        )
        for entry in entries
    ]
    return _table(
        "Slowest tools",
        "95 of 100 calls took, waited and held the main thread for at most this long.",
        ("Tool", "#95 %", "", "#Median", "#Waiting", "#Main thread", "#Calls"),
        rows,
        "No tool has run.",
    ) + _more(report, "slowestTools")


def _more(report: dict[str, Any], key: str) -> str:
    more = report["more"][key]
    return f'<p class="soft more">+{_count(more)} more</p>' if more else ""


def _table(title: str, about: str, columns: Sequence[str], rows: Sequence[str], empty: str) -> str:
    """Return a section with a table. Columns whose title begins with ``#`` hold numbers."""
    if not rows:
        return f'<section><h2>{title}</h2><p class="soft" style="margin: 0">{empty}</p></section>'
    heads = "".join(
        f'<th scope="col"{" class=number" if name.startswith("#") else ""}>{name.lstrip("#")}</th>'
        for name in columns
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<section><h2>{title}</h2><p class="soft">{about}</p><div class="wide"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _period(report: dict[str, Any]) -> str:
    until = _when(report["until"])
    return f"until {until}" if report["since"] is None else f"{_when(report['since'])} – {until}"


def _when(iso: str) -> str:
    return dt.datetime.fromisoformat(iso).strftime("%d %b %Y, %H:%M")


def _count(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def _ms(value: float | None) -> str:
    if value is None:
        return "–"
    if value >= 10_000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms"
