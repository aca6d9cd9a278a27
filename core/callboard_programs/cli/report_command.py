"""``callboard report``: shows missing capabilities, calls, and errors."""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from callboard.demand import studio_report
from callboard.demand.period import parse_since
from callboard.demand.report import build
from callboard.demand.request_rows import RequestRows
from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain
from callboard.ground.regular_file import refuse_special
from callboard.headless.number_arguments import count
from callboard.records.reader import MAX_PAGE, Filter, Reader
from callboard.records.store import default_folder
from callboard_programs.cli.report_html import render

_SHOWN = 10
_LISTED = 20
#: Maximum number of characters of a call's arguments in the list of calls.
_ARGUMENTS = 60
_KINDS = (("errors", "failed"), ("refused", "refused"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", default="7d", help="30m, 12h, 7d, 2w, a date, or all")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--call", metavar="ID", help="show one call in full, with its traceback")
    which.add_argument(
        "--calls",
        metavar="N",
        nargs="?",
        type=_listed,
        const=_LISTED,
        help=f"list the last N calls with their ids, newest last; N is {_LISTED} by default and "
        f"{MAX_PAGE} at most",
    )
    which.add_argument(
        "--merge",
        metavar="WORDING",
        nargs="+",
        action="extend",
        help="from now on, merge the rows of these requests into the row of the first one",
    )
    which.add_argument(
        "--split",
        metavar="WORDING",
        nargs="+",
        action="extend",
        help="from now on, give each of these requests its own row",
    )
    which.add_argument(
        "--from",
        dest="sources",
        metavar="PATH",
        nargs="+",
        action="extend",
        type=Path,
        help="report by user, workstation, client and tool on all these homes, folders of "
        "records, databases, or files of JSON lines",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, for programs")
    form.add_argument(
        "--html",
        metavar="FILE",
        type=Path,
        help="write the report to one HTML page, and print nothing",
    )


def _listed(text: str) -> int:
    number = count(text)
    if number > MAX_PAGE:
        raise argparse.ArgumentTypeError(
            f"{number} calls are too many; the maximum is {MAX_PAGE}. Leave out older calls with "
            "--since, or run the report without --calls, which counts all of them"
        )
    return number


def run(arguments: argparse.Namespace) -> int:
    if arguments.merge or arguments.split:
        return _arrange(arguments.merge or [], arguments.split or [])
    try:
        since = parse_since(arguments.since)
    except ValueError as error:
        raise PeerError(str(error)) from None
    try:
        if arguments.call is not None:
            return _show_call(arguments.call, as_json=arguments.json)
        if arguments.calls is not None:
            return _list_calls(arguments.calls, since, as_json=arguments.json)
        if arguments.sources is not None:
            return _report_on_many(arguments, since)
        report = build(Reader(default_folder()), since=since)
    except sqlite3.Error as error:
        raise HostError(
            f"the records can't be read: {error}. Start a host, which sets a damaged file aside"
        ) from None
    if arguments.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    elif arguments.html is not None:
        try:
            refuse_special(arguments.html)
            arguments.html.write_text(render(report), "utf-8")
        except OSError as error:
            raise HostError(f"{arguments.html} can't be written: {error.strerror}") from None
    else:
        _print(report)
    return 0


def _report_on_many(arguments: argparse.Namespace, since: float | None) -> int:
    """Print a report on the records of several people. Return 1 if some records couldn't be
    read."""
    if arguments.html is not None:
        raise PeerError("--from can't write an HTML page; leave out --html, or use --json")
    report = studio_report.build(arguments.sources, since=since)
    if arguments.json:
        print(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        _print_many(report)
    for entry in report["unread"]:
        print(plain(f"callboard: {entry['path']}: {entry['why']}"), file=sys.stderr)
    return 1 if report["unread"] else 0


def _print_many(report: dict[str, Any]) -> None:
    sources, unread = report["sources"], len(report["unread"])
    print(f"{report['calls']} calls in {sources - unread} of {sources} places")
    for name in studio_report.BY.values():
        others = [each for each in studio_report.BY.values() if each != name]
        counts = "".join(f"{f'{each}s':>14}" for each in others)
        print(f"\n{f'By {name}':<42} {'calls':>8} {'failed':>8} {'refused':>8} {'open':>6}{counts}")
        entries = report[f"by{name.title()}"]
        for one in entries[:_LISTED]:
            ends = f"{one['failed']:>8} {one['refused']:>8} {one['unfinished']:>6}"
            counts = "".join(f"{one[f'{each}s']:>14}" for each in others)
            print(f"  {one['name'][:40]:<40} {one['calls']:>8} {ends}{counts}")
        if entries[_LISTED:]:
            print(f"  +{len(entries) - _LISTED} more; --json shows all")


def _arrange(merged: list[str], split: list[str]) -> int:
    """Merge or split rows of the report, and print their names. Raises PeerError or HostError."""
    if len(merged) == 1:
        raise PeerError("--merge needs two or more wordings; the row of the first one stays")
    rows = RequestRows(default_folder())
    try:
        if merged:
            rows.merge(merged)
            print(plain(f"one row from now on: {', '.join(merged)}"))
        for wording in split:
            rows.split(wording)
            print(plain(f"a row of its own from now on: {wording}"))
    except OSError as error:
        raise HostError(f"the rows can't be saved: {error.strerror}") from None
    print("see the rows with: callboard report --since all")
    return 0


def _show_call(call_id: str, *, as_json: bool) -> int:
    call = Reader(default_folder()).get(call_id)
    if call is None:
        raise PeerError(
            f"there is no record of call '{call_id[:64]}'; `callboard report --calls` lists the "
            "last calls, and the answer of a failed call contains the call's id as callboard/call"
        )
    entry = call.as_trace()
    if as_json:
        print(json.dumps(entry, indent=2))
        return 0
    why = entry.pop("result", None) if call.is_error else None
    entry["started"] = datetime.fromtimestamp(call.started).astimezone().isoformat(" ", "seconds")
    for key, value in entry.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        print(plain(f"{key:<16} {text}"))
    for key, text in (why or {}).items():
        print(plain(f"\n{key}:\n{text}"))
    return 0


def _list_calls(number: int, since: float | None, *, as_json: bool) -> int:
    calls = Reader(default_folder()).recent(Filter(since=since), limit=number).calls[::-1]
    if as_json:
        print(json.dumps([call.as_trace() for call in calls], indent=2))
        return 0
    for call in calls:
        when = datetime.fromtimestamp(call.started).strftime("%m-%d %H:%M:%S")
        given = json.dumps(call.arguments, ensure_ascii=False)
        given = given if len(given) <= _ARGUMENTS else f"{given[:_ARGUMENTS]}…"
        print(
            plain(
                f"{when}  {call.call_id}  {call.outcome:<9}  {' '.join(call.tool.split())} {given}"
            )
        )
    if not calls:
        print("There are no records from that time; use --since all to include older ones.")
    return 0


def _print(report: dict[str, Any]) -> None:
    _print_days(report)
    _print_missing(report)
    errors = report["topErrors"][:_SHOWN]
    print("\nErrors:" if errors else "\nNo call failed.")
    for entry in errors:
        print(f"  {entry['count']:>4}  {entry['tool']}: {entry['message']}")
    _print_more(report, "topErrors")
    if report["unknownTools"]:
        print("\nUnknown tools that were called:")
    for entry in report["unknownTools"][:_SHOWN]:
        print(f"  {entry['count']:>4}  {entry['tool']}")
    if report["slowestTools"]:
        print(f"\n{'Slowest tools':<42} {'calls':>6} {'median ms':>11} {'p95 ms':>11} main thread")
    for entry in report["slowestTools"][:_SHOWN]:
        print(
            f"  {entry['tool']:<40} {entry['calls']:>6} {_ms(entry['medianMs'])} "
            f"{_ms(entry['p95Ms'])} {_ms(entry['mainThreadP95Ms'])}"
        )
    _print_more(report, "slowestTools")


def _print_missing(report: dict[str, Any]) -> None:
    refused = set(report["refusedHere"])
    missing = report["topMissingCapabilities"][:_SHOWN]
    if not missing:
        print("No capability was missing.")
    for title, here in (("Not built, by sessions:", False), ("Refused here:", True)):
        entries = [entry for entry in missing if (entry["capability"] in refused) == here]
        if entries:
            print(title)
        for entry in entries:
            print(
                f"  {entry['sessions']:>4}  {entry['capability']}  ({entry['source']}, "
                f"{entry['count']} times)"
            )
    _print_more(report, "topMissingCapabilities")
    changes = report["changes"]
    if changes is not None and changes["callsBefore"]:
        for key, title in (
            ("new", "New since the previous period"),
            ("gone", "No longer asked for"),
        ):
            if changes[key]:
                print(f"{title}: {', '.join(changes[key][:_SHOWN])}")


def _print_more(report: dict[str, Any], key: str) -> None:
    more = max(0, len(report[key]) - _SHOWN) + report["more"][key]
    if more:
        print(f"  +{more} more")


def _print_days(report: dict[str, Any]) -> None:
    print(f"{report['calls']} calls in {report['sessions']} sessions")
    for day in [day for day in report["callsPerDay"] if day["calls"]][-_SHOWN:]:
        notes = [f"{day[kind]} {name}" for kind, name in _KINDS if day[kind]]
        print(f"  {day['date']}  {day['calls']:>6}  {', '.join(notes)}".rstrip())
    print()


def _ms(value: float | None) -> str:
    return f"{value:>11.1f}" if value is not None else f"{'-':>11}"
