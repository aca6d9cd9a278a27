"""The report sums up the records, and its page can't be made to do harm."""

from __future__ import annotations

import datetime as dt
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from callboard.demand import report
from callboard.demand.period import parse_since
from callboard.records.model import CallRecord
from callboard.records.retention import Retention
from callboard.records.store import Store
from callboard_programs.cli.report_html import render
from records.call_records import a_call

NOW = dt.datetime(2026, 3, 15, 12, 0).timestamp()
DAY = 86_400.0


@pytest.fixture
def report_on(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def build(*calls: CallRecord, since: float | None = NOW - 7 * DAY) -> dict[str, Any]:
        store = Store(tmp_path / "records", retention=Retention(days=1e6))
        for call in calls:
            store.record(call)
        built = report.build(store.reader(), since=since, until=NOW)
        return json.loads(json.dumps(built))  # type: ignore[no-any-return]

    return build


def a_request(capability: Any, session: str | None, **changes: Any) -> CallRecord:
    arguments = {"capability": capability, **changes.pop("more", {})}
    return a_call(
        tool="mcpeye_request_capability",
        arguments=arguments,
        session=session,
        started=changes.pop("started", NOW - DAY),
        **changes,
    )


def test_missing_capabilities_are_ranked_by_sessions(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    week = report_on(
        a_request("Export as PDF", "one", more={"context": "a client wants it"}),
        *[a_request("export  as pdf.", "one") for _ in range(9)],
        a_request("bake textures", "one"),
        a_request("Bake textures", "two"),
        a_call(
            started=NOW - DAY,
            session="three",
            outcome="refused",
            error_code=-32001,
            tool="usd__export",
            missing=("usd", "filesystem.write"),
        ),
        a_call(
            started=NOW - DAY,
            session="three",
            intent="The user wanted to simulate cloth, but no simulation tool exists.",
        ),
        a_call(
            started=NOW - DAY,
            session="four",
            intent="Cannot bake textures, so paints them by hand.",
        ),
    )
    assert week["topMissingCapabilities"] == [
        {
            "capability": "bake textures",
            "count": 3,
            "sessions": 3,
            "source": "requested",
            "confidence": "high",
            "examples": ["Cannot bake textures, so paints them by hand."],
        },
        {
            "capability": "export as pdf.",
            "count": 10,
            "sessions": 1,
            "source": "requested",
            "confidence": "high",
            "examples": ["a client wants it"],
        },
        {
            "capability": "filesystem.write",
            "count": 1,
            "sessions": 1,
            "source": "refused",
            "confidence": "high",
            "examples": ["refused: usd__export"],
        },
        {
            "capability": "usd",
            "count": 1,
            "sessions": 1,
            "source": "refused",
            "confidence": "high",
            "examples": ["refused: usd__export"],
        },
        {
            "capability": "simulate cloth",
            "count": 1,
            "sessions": 1,
            "source": "inferred",
            "confidence": "low",
            "examples": ["The user wanted to simulate cloth, but no simulation tool exists."],
        },
    ]


def test_wordings_of_one_wish_are_one_row(report_on: Callable[..., dict[str, Any]]) -> None:
    week = report_on(
        a_request("export Alembic caches", "one"),
        a_request("Exporting an alembic cache", "two"),
        a_request("an ability to export the cache as alembic", "three"),
        a_request("import Alembic caches", "one"),
    )
    first, second = week["topMissingCapabilities"]
    assert (first["sessions"], first["count"]) == (3, 3)
    assert first["capability"] == "export Alembic caches"
    assert first["examples"] == [
        "Exporting an alembic cache",
        "an ability to export the cache as alembic",
    ]
    assert second["capability"] == "import Alembic caches"


def test_what_is_refused_here_is_told_from_what_is_not_built(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    refused = {"outcome": "refused", "error_code": -32001, "missing": ("viewport",)}
    week = report_on(
        a_request("bake lightmaps", "one"),
        a_call(started=NOW - DAY, session="one", tool="render__still", **refused),
    )
    assert week["refusedHere"] == ["viewport"]
    assert len(week["topMissingCapabilities"]) == 2


def test_a_week_is_compared_with_the_one_before(report_on: Callable[..., dict[str, Any]]) -> None:
    week = report_on(
        a_request("rig a biped", "a", started=NOW - 9 * DAY),
        a_request("bake textures", "a", started=NOW - 9 * DAY),
        a_request("baking textures", "b"),
        a_request("simulate cloth", "b"),
        a_request("long forgotten", "c", started=NOW - 15 * DAY),
    )
    assert week["changes"] == {
        "callsBefore": 2,
        "new": ["simulate cloth"],
        "gone": ["rig a biped"],
    }


def test_tools_that_are_called_and_are_not_there_are_counted(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    unknown = {
        "tool": "scene__explode",
        "outcome": "error",
        "error_code": -32602,
        "error_message": "unknown tool 'scene__explode'; see tools/list",
    }
    week = report_on(
        *[a_call(started=NOW - DAY, session=name, **unknown) for name in ("a", "a", "b")]
    )
    assert week["unknownTools"] == [{"tool": "scene__explode", "count": 3, "sessions": 2}]
    assert week["topErrors"] == []
    assert week["slowestTools"] == []


def test_a_workflow_whose_step_names_no_tool_is_there_itself(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    unknown = {"error_code": -32602, "error_message": "unknown tool 'check'; see tools/list"}
    week = report_on(a_call(started=NOW - DAY, outcome="error", tool="workflows__run", **unknown))
    assert week["unknownTools"] == []
    assert [row["tool"] for row in week["topErrors"]] == ["workflows__run"]


def test_what_does_not_fit_is_counted(report_on: Callable[..., dict[str, Any]]) -> None:
    week = report_on(*[a_request(f"wish{n}", "a") for n in range(25)])
    assert len(week["topMissingCapabilities"]) == 20
    assert week["more"]["topMissingCapabilities"] == 5


@pytest.mark.parametrize("capability", [7, ["a", "b"], {"a": 1}, True])
def test_a_request_put_badly_still_counts(
    report_on: Callable[..., dict[str, Any]], capability: Any
) -> None:
    (entry,) = report_on(a_request(capability, "one"))["topMissingCapabilities"]
    assert json.loads(entry["capability"]) == capability


def test_a_request_without_words_is_only_a_call(report_on: Callable[..., dict[str, Any]]) -> None:
    week = report_on(a_request("", "a"), a_request(None, "a"), a_request("  …  ", "a"))
    assert week["topMissingCapabilities"] == []
    assert week["calls"] == 3


def test_without_sessions_a_clients_day_counts_as_one(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    (entry,) = report_on(
        a_request("x ray", None, client_name="a"),
        a_request("x ray", None, client_name="a"),
        a_request("x ray", None, client_name="b"),
        a_request("x ray", None, client_name="a", started=NOW - 3 * DAY),
    )["topMissingCapabilities"]
    assert (entry["count"], entry["sessions"]) == (4, 3)


def test_errors_are_grouped_by_what_went_wrong(report_on: Callable[..., dict[str, Any]]) -> None:
    def fails(message: str, **changes: Any) -> CallRecord:
        return a_call(
            started=NOW - DAY, outcome="error", error_message=message, error_code=-32602, **changes
        )

    week = report_on(
        fails("no object named 'cube1'"),
        fails("no object named 'cube22'", session="other"),
        fails("frame 7 is outside 1-100", tool="render__still"),
        a_call(started=NOW - DAY, outcome="cancelled"),
        a_call(started=NOW - DAY, outcome="timeout", tool="render__still"),
    )
    assert [(e["tool"], e["count"], e["sessions"], e["code"]) for e in week["topErrors"]] == [
        ("scene__get_object", 2, 2, -32602),
        ("render__still", 1, 1, -32602),
        ("render__still", 1, 1, None),
    ]
    assert week["outcomes"] == {"cancelled": 1, "error": 3, "timeout": 1}


def test_slow_tools_come_first_with_where_the_time_went(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    quick = [a_call(started=NOW - DAY, duration_ms=float(n), queue_ms=0.5) for n in range(1, 101)]
    slow = a_call(started=NOW - DAY, tool="render__still", duration_ms=900.0, main_thread_ms=880.0)
    first, second = report_on(*quick, slow)["slowestTools"]
    assert first == {
        "tool": "render__still",
        "calls": 1,
        "medianMs": 900.0,
        "p95Ms": 900.0,
        "maxMs": 900.0,
        "queueP95Ms": None,
        "mainThreadP95Ms": 880.0,
    }
    assert (second["calls"], second["medianMs"], second["p95Ms"]) == (100, 50.5, 95.0)
    assert (second["maxMs"], second["queueP95Ms"]) == (100.0, 0.5)


def test_every_day_is_there_and_other_times_are_not(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    week = report_on(
        a_call(started=NOW - 2 * DAY),
        a_call(started=NOW - 2 * DAY, outcome="refused"),
        a_call(started=NOW - 2 * DAY, outcome="timeout"),
        a_call(started=NOW - 4 * DAY),  # before
        a_call(started=NOW + 1),  # after
        since=NOW - 3 * DAY,
    )
    assert week["calls"] == 3
    assert week["callsPerDay"] == [
        {"date": "2026-03-12", "calls": 0, "errors": 0, "refused": 0},
        {"date": "2026-03-13", "calls": 3, "errors": 1, "refused": 1},
        {"date": "2026-03-14", "calls": 0, "errors": 0, "refused": 0},
        {"date": "2026-03-15", "calls": 0, "errors": 0, "refused": 0},
    ]


def test_an_empty_report_has_every_key(report_on: Callable[..., dict[str, Any]]) -> None:
    empty = report_on(since=None)
    assert empty["since"] is None
    assert empty["calls"] == 0
    for key in ("topMissingCapabilities", "topErrors", "slowestTools", "callsPerDay"):
        assert empty[key] == []
    assert "No capability was missing" in render(empty)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1800), ("12h", 43_200), ("7d", 604_800), (" 2W ", 1_209_600), ("0d", 0)],
)
def test_since_as_a_span(text: str, seconds: int) -> None:
    assert parse_since(text, now=NOW) == NOW - seconds


def test_since_before_there_were_dates(report_on: Callable[..., dict[str, Any]]) -> None:
    since = parse_since("999999w", now=NOW)
    assert report_on(a_call(started=NOW - 1), since=since)["calls"] == 1


def test_since_as_a_date_or_all() -> None:
    assert parse_since("2026-03-01") == dt.datetime(2026, 3, 1).timestamp()
    assert parse_since("all") is None


@pytest.mark.parametrize("text", ["", "week", "-7d", "7y", "7.5d", "2026-13-01", "9" * 50 + "d"])
def test_since_that_is_nothing_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"write 30m, 12h, 7d"):
        parse_since(text)


class _Page(HTMLParser):
    """Collects the parts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_needs_nothing_else_and_runs_nothing(
    report_on: Callable[..., dict[str, Any]],
) -> None:
    evil = "</td><script>alert('x')</script><img src=http://evil.example/x onerror=y> & \"q\""
    week = report_on(
        a_request(evil, "one", more={"context": evil}),
        a_call(started=NOW - DAY, outcome="error", error_message=evil, tool=evil),
        a_call(started=NOW - DAY, outcome="refused", client_name=evil),
    )
    html = render(week)
    page = _Page()
    page.feed(html)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert page.links == []
    assert "url(" not in html
    assert "@import" not in html
    assert "".join(page.words).count(evil) == 5
    assert "prefers-color-scheme: dark" in html
    for svg in re.findall(r"<svg.*?</svg>", html, re.S):
        ET.fromstring(svg)
    assert html.count("<rect") >= 4


def test_the_page_tells_what_the_terminal_tells(report_on: Callable[..., dict[str, Any]]) -> None:
    refused = {"error_code": -32001, "missing": ["hologram"]}
    gone = {"error_code": -32602, "error_message": "unknown tool 'sculpt'; see tools/list"}
    week = report_on(
        *[
            a_call(started=NOW - DAY, outcome="refused", tool="render", session=one, **refused)
            for one in ("one", "two")
        ],
        a_call(started=NOW - DAY, outcome="error", tool="sculpt", **gone),
        a_request("fly a kite", "before", started=NOW - 8 * DAY),
        *[a_request(f"wish {chr(97 + n)}", str(n)) for n in range(25)],
    )
    page = _Page()
    page.feed(render(week))
    texts = [word.strip() for word in page.words if word.strip()]
    for heading in ("Not built", "Refused here", "What changed", "Unknown tools that were called"):
        assert heading in texts
    assert texts.index("Not built") < texts.index("wish a") < texts.index("Refused here")
    assert "hologram" in texts[texts.index("Refused here") : texts.index("What changed")]
    assert texts[texts.index("No longer asked for") + 1] == "fly a kite"
    assert texts[texts.index("Unknown tools that were called") + 5] == "sculpt"
    assert f"+{week['more']['topMissingCapabilities']} more" in texts


def test_the_chart_fits_its_frame() -> None:
    for calls in [1, 4, 5, 6, 99, 101, 1234, 99_999]:
        for days in [1, 2, 31, 366]:
            first = dt.date(2025, 3, 1)
            calls_per_day = [
                {
                    "date": (first + dt.timedelta(days=n)).isoformat(),
                    "calls": calls if n % 2 == 0 else 0,
                    "errors": 1 if n % 2 == 0 else 0,
                    "refused": 0,
                }
                for n in range(days)
            ]
            html = render({**_EMPTY, "callsPerDay": calls_per_day})
            (svg,) = re.findall(r'<svg class="days".*?</svg>', html, re.S)
            _, _, width, height = map(float, ET.fromstring(svg).attrib["viewBox"].split())
            rects = [rect.attrib for rect in ET.fromstring(svg).iter("rect")]
            assert rects
            for rect in rects:
                assert float(rect["x"]) >= 0
                assert float(rect["y"]) >= 0
                assert float(rect["x"]) + float(rect["width"]) <= width
                assert float(rect["y"]) + float(rect["height"]) <= height
            lines = list(ET.fromstring(svg).iter("line"))
            assert 2 <= len(lines) <= 6


_EMPTY: dict[str, Any] = {
    "generatedAt": "2026-03-15T12:00:00+00:00",
    "since": None,
    "until": "2026-03-15T12:00:00+00:00",
    "calls": 0,
    "sessions": 0,
    "clients": [],
    "outcomes": {},
    "topMissingCapabilities": [],
    "topErrors": [],
    "slowestTools": [],
    "refusedHere": [],
    "unknownTools": [],
    "changes": None,
    "more": dict.fromkeys(("topMissingCapabilities", "topErrors", "slowestTools"), 0),
}
