"""Turns a report into data for the test doubles: facts in the form of ``tests/hosts/facts``, and
the switches that make a double misbehave in the same way as that application."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.selftest.checks import CHECKS, SLOW
from callboard.selftest.pictures import why_blank
from callboard.selftest.self_test import FORM


def for_doubles(report: Any) -> Json:
    """Return ``{source, menus, formats, primitives, switches}``. Raises PeerError when
    ``report`` isn't the report of a self-test."""
    try:
        if report["self_test"] != FORM:
            raise PeerError(f"the report has the form {report['self_test']!r}, not {FORM}")
        about, by_name = report["application"], {one["name"]: one for one in report["checks"]}
        data = {check.name: dict(by_name[check.name]["data"]) for check in CHECKS}
        return {
            "source": f"self-test in {about['name']} {about['version']}, {report['date']}, "
            f"callboard {report['callboard']}, {report['system']}",
            "menus": data["menus"],
            "formats": data["exchange"],
            "primitives": data["primitives"],
            "switches": _switches(data, by_name),
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise PeerError("this file isn't a report of callboard's self-test") from None


def _switches(data: Json, by_name: Json) -> Json:
    shown = {
        state: [one for name, one in data["captures"].items() if name.endswith(state)]
        for state in ("as it was", "covered", "minimized")
    }
    views = by_name["captures"]["faults"]
    blank = {
        state: any(map(why_blank, pictures)) or any(f"window {state}: " in each for each in views)
        for state, pictures in shown.items()
    }
    seconds = [one["seconds"] for one in data["primitives"].values()]
    held = [one for check in by_name.values() for one in check["faults"] if "is busy (" in one]
    undo = data["undo_reports"]
    return {
        "blank_views": blank["as it was"],
        "blank_when_hidden": blank["covered"] or blank["minimized"],
        "late_notices": undo.get("at_once") is False,
        "plug_ins_missing": bool(by_name["plug_ins"]["faults"] or by_name["plug_ins"]["absent"]),
        "cook_seconds": max(seconds) if seconds and max(seconds) > SLOW else 0,
        "native_dialog": bool(held),
    }
