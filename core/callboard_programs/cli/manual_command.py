"""``callboard manual``: gives an application's manual to callboard, so that ``docs__lookup`` finds
its text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from callboard.ground.plain_text import plain, plain_json
from callboard.manuals.shelf import Manual, manuals
from callboard_programs.cli.json_option import add_json_after
from callboard_programs.cli.progress_bar import bar, clear
from callboard_programs.manual_pages.identity import KINDS, Given
from callboard_programs.manual_pages.make_index import add_manual, remove_manual


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    adding = actions.add_parser("add", help="read a downloaded manual, and make its index")
    adding.add_argument(
        "source", metavar="FILE_OR_FOLDER", type=Path, help="the manual: a ZIP of HTML pages"
    )
    adding.add_argument("--for", dest="kind", choices=KINDS, help="the application it describes")
    adding.add_argument("--version", metavar="VERSION", help="that application's version")
    adding.add_argument("--title", metavar="TITLE", help="what answers call the manual")
    adding.add_argument("--url", metavar="URL", help="its folder on the web, for links")
    listing = actions.add_parser("list", help="list the manuals, as without an action")
    removing = actions.add_parser("remove", help="remove a manual's index")
    removing.add_argument("name", metavar="NAME", help="the name in `callboard manual list`")
    add_json_after(adding, listing, removing)


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "add":
        return _add(arguments)
    if arguments.action == "remove":
        remove_manual(arguments.name)
        if arguments.json:
            print(plain_json({"name": arguments.name, "removed": True}))
        else:
            print(f"{arguments.name} is removed; running applications no longer use it")
        return 0
    return _list(as_json=arguments.json)


def _add(arguments: argparse.Namespace) -> int:
    given = Given(
        arguments.kind or "", arguments.version or "", arguments.title or "", arguments.url or ""
    )
    added = add_manual(arguments.source, given, _progress)
    clear()
    if arguments.json:
        print(plain_json({**_as_json(added.manual), "skipped": added.skipped}))
        return 0
    if added.skipped:
        print(f"# {added.skipped} pages are too large, and aren't in it", file=sys.stderr)
    print(f"{_line(added.manual)}\ndocs__lookup in {KINDS[added.manual.kind]} finds its text now")
    return 0


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty() and (done % 25 == 0 or done == total):
        bar(done, total, "pages")


def _list(*, as_json: bool) -> int:
    whole, broken = manuals()
    if as_json:
        unread = [{"name": name, "broken": why} for name, why in broken.items()]
        print(plain_json([*map(_as_json, whole), *unread]))
        return 0
    if not whole and not broken:
        print("there is no manual; download one as HTML, and `callboard manual add FILE`")
    for manual in whole:
        print(_line(manual))
    for name, why in broken.items():
        print(plain(f"{name:<32} can't be read ({why}); add it again, or remove it"))
    return 0


def _line(manual: Manual) -> str:
    return plain(
        f"{manual.name:<32} {manual.title}, for {KINDS.get(manual.kind, manual.kind)} "
        f"{manual.version}: {manual.pages:,} pages, {manual.path.stat().st_size / 1e6:,.1f} MB"
    )


def _as_json(manual: Manual) -> dict[str, object]:
    return {
        "name": manual.name,
        "title": manual.title,
        "kind": manual.kind,
        "version": manual.version,
        "pages": manual.pages,
        "sections": manual.sections,
        "path": str(manual.path),
    }
