"""The pages on Python and on the report are complete."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import callboard
from callboard.config import McpHttpConfig
from callboard.demand.report import build
from callboard.extensions import request_capability
from callboard.records.reader import Reader
from callboard.records.store import Store

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_every_setting_and_every_public_name_is_explained() -> None:
    page = (DOCS / "python.md").read_text("utf-8")
    fields = [each.name for each in dataclasses.fields(McpHttpConfig)]
    assert [name for name in fields if f"| `{name}` |" not in page] == []
    public = [*callboard.__all__, "host", "HostResources"]
    public += [name for name in vars(request_capability) if name.isupper() or name == "descriptor"]
    assert [name for name in public if name not in page] == []


def test_every_key_of_the_report_is_explained(tmp_path: Path) -> None:
    page = (DOCS / "report.md").read_text("utf-8")
    Store(tmp_path / "records").flush()
    assert [key for key in build(Reader(tmp_path / "records")) if f"`{key}`" not in page] == []
